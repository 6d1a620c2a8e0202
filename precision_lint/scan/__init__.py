"""Many repositories, each checked by itself: as a job of Ray Data, with limits and resumable."""

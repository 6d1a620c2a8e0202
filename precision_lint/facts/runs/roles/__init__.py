"""What the settings of a run are for, and what is wrong with them."""

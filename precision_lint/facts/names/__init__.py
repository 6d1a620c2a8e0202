"""Names of dtypes and precisions in code: what a text can be where a dtype is wanted."""

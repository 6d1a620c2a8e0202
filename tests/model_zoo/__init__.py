"""dtypes that occur in real model code, recorded while it runs, and the dtype flow held to them."""

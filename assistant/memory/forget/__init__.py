"""One fact out of everything: found, ticked, gone from every place, with a receipt."""

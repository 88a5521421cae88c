"""What goes back to a platform: each writer takes a gradebook and gives names and bytes; the caller writes them."""

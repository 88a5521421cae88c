"""Files of learning management systems: what they hand over, and what they want back."""

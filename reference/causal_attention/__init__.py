"""Attention with a causal mask: solution, checks and misconceptions."""

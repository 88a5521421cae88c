"""The lesson on scaled dot-product attention: solution, oracle and checks."""

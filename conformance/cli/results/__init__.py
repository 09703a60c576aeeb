"""Commands about results: what they show, whether they are as expected, and which recordings support them."""

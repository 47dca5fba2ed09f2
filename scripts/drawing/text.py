"""Names in pictures."""


def plain(text):
    """A text that matplotlib draws as it is: between two dollars it would see mathematics."""
    return str(text).replace("$", r"\$")

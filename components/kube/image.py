"""Image references taken apart for charts that want repository and tag."""


def split_image(reference: str) -> tuple[str, str]:
    """Repository and tag of a reference, so that ``f"{repository}:{tag}"`` is the reference again.

    A digest without tag splits inside ``@sha256:``, which charts put together just the same.

    Args:
        reference: Image with a tag, a digest, or both.

    Raises:
        ValueError: There is neither.
    """
    name, at, digest = reference.partition("@")
    repository, colon, tag = name.rpartition(":")
    if colon and "/" not in tag:
        return repository, f"{tag}{at}{digest}"
    if at:
        algorithm, _, value = digest.partition(":")
        return f"{name}@{algorithm}", value
    raise ValueError(f"image {reference!r} has neither tag nor digest; give an exact one")

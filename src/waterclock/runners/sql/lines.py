"""Columns of texts as the bytes of lines: made by Arrow for thousands of rows at once, nothing for a single one."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def plain(column: "pa.Array") -> "pa.Array":
    """In the one form of its kind that all else here knows; what its values mean does not change."""
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type
    if types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if types.is_binary(kind) or types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
        return column.cast(pa.large_binary())
    return column.cast(pa.float32()) if types.is_float16(kind) else column


def joined(texts: list[Any], separator: str = "") -> "pa.Array":
    """Row by row; what is a plain text is the same in every row. NULL makes NULL of its row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = next(text.type for text in texts if not isinstance(text, str))
    each = [pa.scalar(text).cast(kind) if isinstance(text, str) else text for text in texts]
    return pc.binary_join_element_wise(*each, pa.scalar(separator).cast(kind))


def line_bytes(texts: "list[pa.Array]", separator: str) -> bytes:
    """All columns are large strings, or all large binaries; none has a NULL left."""
    lines = joined([joined(list(texts), separator), ""], "\n")
    _, offsets, data = lines.buffers()
    if data is None:
        return b""
    ends = memoryview(offsets).cast("q")
    return bytes(memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]])

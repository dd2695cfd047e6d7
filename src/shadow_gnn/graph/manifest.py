"""Manifest: the strict schema of graph.json, with its own checksum.

Not for: reading the arrays it describes (store.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from shadow_gnn.base.checked_json import dump_checked, without_checksum
from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import read_object
from shadow_gnn.graph.record import MAX_COLUMNS

VERSION = 1
MAX_BYTES = 1 << 20
FILE_NAME = (
    r"^(blocks|indptr|indices|x|x_scale|x_indptr|x_indices|x_data|y|edge_weight|edge_attr|edge_id"
    r"|node_name_ptr|node_name_text|node_name_order|class_name_ptr|class_name_text|column_name_ptr|column_name_text"
    r"|(split|pairs)/[A-Za-z0-9_-]{1,64})\.npy$"
)
IMPORT_RECORD = "import.toml"
MAX_IMPORT_RECORD_BYTES = 1 << 28

ARRAY_TYPES: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "blocks": (("uint32",), (1,)),
    "indptr": (("int64",), (1,)),
    "indices": (("int32", "int64"), (1,)),
    "x": (("float32", "float16", "int8"), (2,)),
    "x_scale": (("float32",), (1,)),
    "x_indptr": (("int64",), (1,)),
    "x_indices": (("int32",), (1,)),
    "x_data": (("float32",), (1,)),
    "y": (("int64", "float32", "uint8"), (1, 2)),
    "edge_weight": (("float32",), (1,)),
    "edge_attr": (("float32",), (2,)),
    "edge_id": (("int64",), (1,)),
    "node_name_ptr": (("int64",), (1,)),
    "node_name_text": (("uint8",), (1,)),
    "node_name_order": (("int32", "int64"), (1,)),
    "class_name_ptr": (("int64",), (1,)),
    "class_name_text": (("uint8",), (1,)),
    "column_name_ptr": (("int64",), (1,)),
    "column_name_text": (("uint8",), (1,)),
    "split": (("int64",), (1,)),
    "pairs": (("int64",), (2,)),
}
"""Types and numbers of dimensions that each array may have; splits and pairs by the name of their folder."""

Count = Annotated[int, Field(ge=0, lt=1 << 62)]
Columns = Annotated[int, Field(ge=0, lt=MAX_COLUMNS)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
FileName = Annotated[str, Field(pattern=FILE_NAME)]


def _checked_columns(shape: list[int]) -> list[int]:
    if len(shape) == 2 and shape[1] >= MAX_COLUMNS:
        raise ValueError(f"columns must be below 2^31, got {shape[1]}")
    return shape


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FileEntry(_Strict):
    """Description of one .npy file."""

    dtype: Literal["int64", "int32", "float32", "float16", "int8", "uint8", "uint32"]
    """NumPy name of the values' type, little-endian."""
    shape: Annotated[list[Count], Field(min_length=1, max_length=2), AfterValidator(_checked_columns)]
    """Rows first."""
    num_bytes: Count
    """Size of the whole file."""
    blake2b: Hash
    """Checksum of the whole file."""


class TextEntry(_Strict):
    """Description of one text file."""

    num_bytes: Annotated[int, Field(ge=0, le=MAX_IMPORT_RECORD_BYTES)]
    """Size of the whole file."""
    blake2b: Hash
    """Checksum of the whole file."""


class Manifest(_Strict):
    """The content of graph.json, apart from the checksum over itself."""

    format: Literal["shadow-graph"]
    """Distinguishes a graph folder from other folders with a graph.json."""
    version: Literal[1]
    """Version of the folder's layout."""
    num_nodes: Count
    """N."""
    num_edges: Count
    """CSR entries: an undirected edge counts twice."""
    directed: bool
    """False if every edge is stored in both directions."""
    num_feature_columns: Columns | None
    """F, or None without features; the width of sparse features is stored only here."""
    fingerprint: Hash
    """Hash of the topology and the edge weights."""
    files: dict[FileName, FileEntry]
    """Every .npy file of the folder."""
    import_record: TextEntry | None = None
    """The file import.toml; the key is left out if there is none."""

    @property
    def written(self) -> dict[str, FileEntry | TextEntry]:
        """Every file of the folder other than graph.json."""
        texts = {} if self.import_record is None else {IMPORT_RECORD: self.import_record}
        return {**self.files, **texts}


def dump_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of graph.json; arrays that could not be read again are a ValueError."""
    fault = _type_fault(manifest)
    if fault is not None:
        raise ValueError(f"save_graph: {fault}")
    left_out = {"import_record"} if manifest.import_record is None else None
    return dump_checked(manifest.model_dump(mode="json", exclude=left_out))


def is_manifest(path: Path) -> bool:
    """Tell whether a file is a graph.json of this program, damaged or not."""
    try:
        return read_object(path, MAX_BYTES, FolderError, follow_links=False).get("format") == "shadow-graph"
    except FolderError:
        return False


def read_manifest(path: Path) -> Manifest:
    """Read and check graph.json; every fault is a FolderError that names the file."""
    content = read_object(path, MAX_BYTES, FolderError, follow_links=False)
    if content.get("format") != "shadow-graph":
        raise FolderError(f"{path}: is not the graph.json of a graph folder")
    if content.get("version") != VERSION:
        raise FolderError(
            f"{path}: version must be {VERSION}, got {content.get('version')!r:.40}; import the source again"
        )
    try:
        manifest = Manifest.model_validate(without_checksum(path, content, FolderError))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FolderError(f"{path}: {where}: {first['msg']}") from error
    fault = _type_fault(manifest)
    if fault is not None:
        raise FolderError(f"{path}: {fault}")
    return manifest


def _type_fault(manifest: Manifest) -> str | None:
    """Return a description of the first array that has an unknown type or shape; None without one."""
    for name, entry in manifest.files.items():
        dtypes, dimensions = ARRAY_TYPES[name.split("/")[0].removesuffix(".npy")]
        if entry.dtype not in dtypes or len(entry.shape) not in dimensions:
            wanted = f"{' or '.join(dtypes)} of {' or '.join(map(str, dimensions))} dimensions"
            return f"{name} must be {wanted}, got {entry.dtype} {entry.shape}"
    return None

"""A landed file written a second time, as a collector leaves it that died before it saved its cursor and
could not roll it forward."""

import hashlib
from pathlib import Path

from msgspec.structs import replace

from asz.storage.sd import SdFile, encode_closing, encode_header


def land_again(file: SdFile, seq: int) -> None:
    """Write the records of ``file`` under the sequence ``seq``, beside it."""
    lines = [encode_header(replace(file.header, seq=seq)), *(line + b"\n" for line in file.lines)]
    body = b"".join(lines)
    name: Path = file.path.with_name(f"{file.path.stem.rsplit('-', 1)[0]}-{seq:06d}.sd")
    name.write_bytes(body + encode_closing(len(file.lines), hashlib.sha256(body).hexdigest()))

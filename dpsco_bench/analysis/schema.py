"""JSON schema of verdict rows: the shared fields of ``workflows/schemas``, and the own ones of every kind."""

from __future__ import annotations

from dpsco_bench.claims.files import read_yaml
from dpsco_bench.claims.kinds import Kind, all_kinds
from dpsco_bench.paths import shared_dir
from dpsco_bench.plain import Plain


def verdict_schema() -> Plain:
    """Build the schema of a row of any kind; a kind's own fields are required of its rows only."""
    schema = dict(read_yaml(shared_dir("workflows") / "schemas" / "verdict.schema.yaml"))
    kinds = [kind for kind in all_kinds() if kind.own_fields]
    owners = {
        name: [kind.name for kind in kinds if name in kind.own_fields] for kind in kinds for name in kind.own_fields
    }
    schema["properties"] = {**schema["properties"], **dict.fromkeys(owners, {})}
    cases = [(_of([kind.name]), own_schema(kind)) for kind in kinds]
    cases += [({"required": [name]}, _of(allowed)) for name, allowed in owners.items()]
    return schema | ({"allOf": [{"if": given, "then": then} for given, then in cases]} if cases else {})


def own_schema(kind: Kind) -> Plain:
    """Build the schema of the fields that only rows of a kind have."""
    own = {name: field.schema for name, field in kind.own_fields.items()}
    return {"properties": own, "required": list(own)}


def _of(kinds: list[str]) -> Plain:
    """Restrict a schema to rows of some kinds."""
    return {"properties": {"kind": {"enum": kinds}}}

"""Build hook: a wheel carries the configurations and the workflow in dpsco_bench/_share/."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARED = ("conf", "docs", "examples", "workflows", "profiles", "requirements", "Snakefile")


class ShareHook(BuildHookInterface):
    """Add the files beside the package to a wheel; an editable install finds them where they are."""

    def initialize(self, version, build_data):
        """Add the shared folders, as hatchling asks; `version` is "editable" or "standard"."""
        if version != "editable":
            for name in SHARED:
                build_data["force_include"][str(Path(self.root, name))] = f"dpsco_bench/_share/{name}"

import os
import re
import shutil
import subprocess

import pytest

from dpsco_bench.site.pages import provenance
from dpsco_bench.site.pages.provenance import agreement, commit_text, lock_text

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
DATE = "2026-01-02T03:04:05+00:00"


def repository(folder):
    me = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    env = {**os.environ, **me, "GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    (folder / "file").write_text("as committed")
    for words in ("init -q", "add file", "commit -q -m first"):
        subprocess.run(["git", "-C", str(folder), *words.split()], env=env, check=True)
    head = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()


@needs_git
def test_a_checkout_has_a_commit_with_its_date_and_says_whether_files_differ(tmp_path, monkeypatch):
    commit = repository(tmp_path)
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as in a hook of another repository
    assert commit_text(tmp_path) == f"{commit} of {DATE}"
    (tmp_path / "file").write_text("changed")
    assert commit_text(tmp_path) == f"{commit} of {DATE}, with changes in 1 file"


def test_the_lock_has_a_digest_and_what_differs_from_it_is_named(monkeypatch):
    installed = {"one": "1.0", "two": "2.1"}
    monkeypatch.setattr(provenance, "_installed", installed.get)
    lock = "one==1.0 \\\n    --hash=sha256:00\ntwo==2.0 ; python_version < '4' \\\nthree==3.0\n"
    assert agreement(lock) == "1 of its 3 packages are installed as it names them; at other versions two 2.1"
    assert re.match(r"sha256 [0-9a-f]{64}; ", lock_text())

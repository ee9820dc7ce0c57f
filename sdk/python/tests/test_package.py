"""The package as partners get it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import partner_deposits

HERE = Path(__file__).resolve().parents[1]
SOURCES = sorted((HERE / "src").rglob("*.py")) + [HERE.parent / "verify" / "verify.py"]


def run(*args, **options):
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_version_is_that_of_all_libraries():
    assert partner_deposits.VERSION == (HERE.parent / "VERSION").read_text().strip()


def test_types_hold():
    assert "no issues found" in run("-m", "mypy", "--cache-dir", "/dev/null", cwd=HERE)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_the_syntax_is_that_of_python_3_9_and_imports_are_of_the_standard_library(source):
    tree = ast.parse(source.read_text(), feature_version=(3, 9))
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == set()


def test_a_checkout_can_be_installed_offline(tmp_path):
    checkout = tmp_path / "checkout"
    for source in ["pyproject.toml", "README.md", *(path.relative_to(HERE) for path in (HERE / "src").rglob("*"))]:
        if (HERE / source).is_file() and "__pycache__" not in str(source):
            (checkout / source).parent.mkdir(parents=True, exist_ok=True)
            (checkout / source).write_bytes((HERE / source).read_bytes())
    run("-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "--target", tmp_path / "site",
        checkout)
    installed = tmp_path / "site" / "partner_deposits"
    assert (installed / "py.typed").exists()
    code = "import partner_deposits as p; print(p.__file__, p.PartnerDeposits('k').me.get.__doc__)"
    assert run("-c", code, env={"PYTHONPATH": str(tmp_path / "site")}).startswith(str(installed))
    metadata, = (tmp_path / "site").glob("*.dist-info/METADATA")
    assert f"Name: partner-deposits\nVersion: {partner_deposits.VERSION}\n" in metadata.read_text()
    assert "Requires-Dist" not in metadata.read_text()

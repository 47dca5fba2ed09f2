"""Tests of what `cmake --install` puts where: the environment names CMAKE and the BUILD folder. The packages are tried by
packaging/test_deb.sh."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import man_page


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.prefix = Path(cls.temporary.name).resolve() / "prefix"
        for component in ("runtime", "module", "python"):
            subprocess.run([os.environ["CMAKE"], "--install", os.environ["BUILD"], "--prefix", cls.prefix, "--component", component],
                           check=True, stdout=subprocess.DEVNULL)

    def test_program_reads_an_installed_job(self):
        scene = self.prefix / "share/recoil/jobs/demo/scene.json"
        subprocess.run([self.prefix / "bin/recoil", "validate", scene], check=True, stdout=subprocess.DEVNULL)

    def test_python_package(self):
        found = list(self.prefix.glob("lib*/python3*/*/recoil/__init__.py"))
        if not found:
            self.skipTest("built without the Python package, or installed elsewhere")
        try:
            import h5py, numpy  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        scene = self.prefix / "share/recoil/jobs/demo/scene.json"
        subprocess.run([sys.executable, "-B", "-c", f"import recoil; recoil.validate({str(scene)!r})"], check=True,
                       env={**os.environ, "PYTHONPATH": str(found[0].parents[1])})

    def test_scripts_find_each_other(self):
        try:
            import h5py, matplotlib, numpy  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        for script in ("starts.py", "render.py", "report.py"):
            subprocess.run([sys.executable, "-B", self.prefix / "share/recoil/scripts" / script, "--help"], check=True,
                           stdout=subprocess.DEVNULL)

    def test_links_of_documents_lead_somewhere(self):
        documents = self.prefix / "share/doc/recoil"
        pages = [documents / "README.md", *documents.glob("docs/**/*.md")]
        self.assertGreater(len(pages), 10)
        for page in pages:
            text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
            for link in re.findall(r"\]\(([^)#\s]+)", text):
                self.assertTrue("://" in link or (page.parent / link).exists(), f"{page.name} links to {link}, which is not installed")

    def test_manual_page_is_what_help_says(self):
        self.assertEqual(man_page.page(self.prefix / "bin/recoil"), (ROOT / "packaging/recoil.1").read_text(),
                         "packaging/man_page.py build/ci/recoil > packaging/recoil.1 brings it up to date")

    def test_module_knows_the_prefix(self):
        module, = (self.prefix / "share/modulefiles/recoil").iterdir()
        text = module.read_text()
        self.assertIn(f'set prefix "{self.prefix}"\n', text)
        self.assertIn(f"recoil {module.name}:", text)
        self.assertNotIn("@", text)


if __name__ == "__main__":
    unittest.main()

"""Tests of scripts/site_pages.py and scripts/floors.py on made-up documents."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import floors
import site_pages


class Pages(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name).resolve()
        for module in (site_pages, floors):
            patch = mock.patch.object(module, "ROOT", self.root)
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_links_and_anchors_are_checked(self):
        self.write("README.md", "[a](docs/a.md#a-b--c) [b](docs/b.md) `[c](no)`\n\n```\n[d](no)\n```\n[e](docs/a.md#no) [f](https://a.b)\n")
        self.write("docs/a.md", "# A\n## a b, (c)\n## A b - C\n[up](../../out.md)\n")
        (self.root.parent / "out.md").write_text("")
        self.addCleanup((self.root.parent / "out.md").unlink)
        self.assertEqual([fault.split(": ")[0] for fault in site_pages.faults()], ["README.md:1", "README.md:1", "README.md:6", "docs/a.md:4"])

    def test_anchors_are_those_of_a_forge(self):
        self.assertEqual(site_pages.slug("What `dhat` is - and [why](x.md)?"), "what-dhat-is---and-why")
        self.write("docs/a.md", "# Same\n# Same\n```\n# no heading\n```\n")
        self.assertEqual(site_pages.anchors(self.root / "docs/a.md"), {"same", "same-1"})

    def test_staged_pages_name_pages_of_folders(self):
        self.write("README.md", "Text\n- item of [jobs](jobs/one), [two](jobs/two)\n\n```json a.json\n{}\n```\n```text output 1e-2\nx\n```\n")
        self.write("jobs/one/README.md", "[home](../../README.md)")
        self.write("jobs/two/scene.json", "{}")
        target = self.root / "staged"
        site_pages.stage(target)
        self.assertEqual((target / "README.md").read_text(),
                         "Text\n\n- item of [jobs](jobs/one/README.md), [two](jobs/two/index.md)\n\n"
                         '```json title="a.json"\n{}\n```\n```text\nx\n```\n')
        self.assertIn("[scene.json](scene.json)", (target / "jobs/two/index.md").read_text())
        self.assertTrue((target / "jobs/two/scene.json").exists())

    def test_table_of_floors_must_have_every_folder(self):
        self.write("docs/layers.txt", "[floors]\n0 base\n1 fem # text\n2 app/a\n3 drivers: base\n[headers]\n")
        self.write("docs/architecture.md", "| 0 | base | errors |\n| 2 | fem | nodes |\n| 2 - 3 | app | scenes |\n| 4 | gone | old |\n")
        found = "\n".join(floors.faults())
        self.assertEqual(found.count("\n"), 2)
        for words in ("fem is on floor 1", "no row for drivers", "a row for gone"):
            self.assertIn(words, found)
        self.write("docs/architecture.md", "| 0 | base | errors |\n| 1 | fem | nodes |\n| 2 | app | scenes |\n| 3 | drivers | mains |\n")
        self.assertEqual(list(floors.faults()), [])
        self.assertIn(">scenes<", floors.picture())

    def test_headers_are_grouped_without_a_line_more(self):
        self.write("docs/layers.txt", "[floors]\n1 fem\n[headers]\n")
        self.write("docs/architecture.md", "| 1 | fem | nodes |\n")
        self.write("include/recoil/fem/deep/a.hpp", "#pragma once\nnamespace recoil::fem {\nint a;\n} // namespace recoil::fem\n")
        floors.stage(self.root / "staged")
        lines = (self.root / "staged/recoil/fem/deep/a.hpp").read_text().splitlines()
        self.assertEqual(lines[1:], ["namespace recoil::fem { /** @addtogroup folder_fem */ /** @{ */", "int a;", "/** @} */ } // namespace recoil::fem"])
        self.assertIn("@defgroup folder_fem fem", (self.root / "staged/groups.dox").read_text())


if __name__ == "__main__":
    unittest.main()

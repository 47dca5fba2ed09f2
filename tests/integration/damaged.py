"""Random bit flips and truncations of trajectory files: exit 4 that names the file, or an earlier state is used and the
answer is right; never a wrong answer."""
import os
import random
import shutil

import runs

DAMAGES = 200
SEED = 4711

with runs.Recoil() as recoil:
    scene = recoil.write_scene("bar", runs.bar([3, 1, 1], 9, chunk=3))
    reference = runs.state(recoil.simulate(1, scene, "whole"))
    stopped = recoil.simulate(1, scene, "stopped", "--steps", 6)
    names = sorted(os.listdir(os.path.join(stopped, "trajectory")))
    files = [f for f in names if f.endswith((".h5", ".json"))]
    rng = random.Random(SEED)
    refused = right = 0
    for damage in range(DAMAGES):
        folder = recoil.path("damaged")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(stopped, folder)
        name = rng.choice(files)
        path = os.path.join(folder, "trajectory", name)
        with open(path, "rb") as file:
            content = bytearray(file.read())
        if damage % 4 == 0:
            what = "truncated"
            content = content[: rng.randrange(len(content))]
        else:
            what = "bit flipped"
            place = rng.randrange(len(content))
            content[place] ^= 1 << rng.randrange(8)
        with open(path, "wb") as file:
            file.write(content)
        code, text = recoil.run(1, "simulate", "--restart", folder, "-q", expect=None)
        if code == 4:
            refused += 1
            if name not in text:
                runs.check(False, "%s %s: exit 4 does not name it: %s" % (name, what, text))
        elif code == 0:
            right += 1
            if not (runs.state(folder) == reference).all():
                runs.check(False, "%s %s: WRONG ANSWER" % (name, what))
        else:
            runs.check(False, "%s %s: exit %d: %s" % (name, what, code, text))
    runs.check(refused + right == DAMAGES, "%d damages: %d refused by name, %d unharmed" % (DAMAGES, refused, right))
    runs.check(refused > DAMAGES // 4, "damage is seen")

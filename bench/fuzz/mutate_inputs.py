#!/usr/bin/env python3
"""Hostile inputs for every subcommand: each must end with one of recoil's exit codes, a sentence of its own, little memory, soon.

    bench/fuzz/mutate_inputs.py --recoil build/release/recoil --count 3000 --seed 0 --jobs 2 --keep /tmp/failures
    bench/fuzz/mutate_inputs.py --recoil build/release/recoil --show 17 --keep /tmp/one    # only input 17, kept

Input number s depends on s alone: a sound input of seed_inputs.py with one to four mutations. They change values, keys and
types of scenes and studies; write numbers that no double holds, deep nestings, other encodings; let `patch` and `common` refer to
themselves; flip, cut and repeat bytes of mesh files of every format (text and binary), of HDF5 and CSV files, and of the files of
run and gradient folders for `info` and `--restart`.

An input fails if the exit code is none of 0, 2, 3, 4, 75; if a non-zero code comes without a sentence; if the output
holds text of a library; if the resident set goes beyond 2 GB, or the processor time beyond 30 s (a run that is still computing
after 20 s is asked to stop with SIGUSR1). Prints a histogram of codes by kind and the seed of each failure; exit 1 if any failed.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import seed_inputs

CODES = (0, 2, 3, 4, 75)
MAX_BYTES = 2 << 30
ADDRESS_SPACE = MAX_BYTES + (256 << 20)  # libraries and stacks are addresses that never become resident
MAX_SECONDS, ASKED_TO_STOP = 30, 20
CLOCK_FACTOR = 4  # machines may be shared
LIBRARY_TEXT = re.compile(
    r"json\.exception|nlohmann|syntax error while|HDF5-DIAG|H5[A-Z][A-Za-z]*_|\(H5|std::|basic_string|\bsto[idl]\b|vector::|map::at|"
    r"bad_alloc|filesystem error|\[PETSC|PETSc: |METIS: |METIS_|terminate called|[Aa]ssertion|internal error|what\(\)|MPI_ERR|MPI: |"
    r"iostream error|bad optional|bad variant|Segmentation|1797693134862315|ParseError|length_error|out_of_range")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")


# Values ---------------------------------------------------------------------------------------------------------------

def raw(text):
    """A JSON value that is written as it stands, JSON or not."""
    return "@raw:" + text + "@"


def unraw(text):
    return re.sub(r'"@raw:(.*?)@"', r"\1", text)


NUMBERS = [0, -1, 1, 2, 7, 12, 31, 64, 1000, 10000, 100000, 2**31 - 1, 2**31, -2**31 - 1, 2**53, 2**63, 2**64, 1e-3, 0.5, 1e-15, 1e15, 1e-300, 5e-324,
           1e300, -1e300, 1.7976931348623157e308]
RAW = ["1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "01", "1.", ".5", "0x10", "+1", "1e", "--1", "nul", "'x'", "1" * 400, "1,,2", "{", "]",
       "18446744073709551616", "1" + "0" * 5000]
TEXTS = ["", " ", "x", "nan", "inf", "1e400", "1/0", "sqrt(-1)", "x^y^z^1e9", "(" * 5000 + "x" + ")" * 5000, "sin(" * 300 + "t" + ")" * 300, "-" * 20000 + "1",
         "x" * 5000, "a" * 100000, "../" * 200, "/", "/dev/null", "/dev/zero", "/dev/tty", "/proc/self/mem", "/proc/self/maps", "/proc/self/environ", ".", "..",
         "no/such/file.msh", "\u0000", "a\u0000b", "\ud83d\ude00", "\x7f\x1b[31m", "all", "volume", "adaptive", "NeoHookean", "block.json", "field.h5", "faces.obj",
         "\\", "~", "~0~1", "/geometry/0", "if(x,", "1+", "fac(1e9)", "x+", "ncr(1e9,5e8)", "rotate_2D_x(1", "t" + "+t" * 5000]


def value(rng, depth=0):
    pick = rng.random()
    if pick < 0.3:
        return rng.choice(NUMBERS)
    if pick < 0.4:
        return raw(rng.choice(RAW))
    if pick < 0.55:
        return rng.choice(TEXTS)
    if pick < 0.65:
        return rng.choice([None, True, False])
    if pick < 0.72:
        return raw("[" * (n := rng.choice([10, 63, 64, 65, 1000, 100000])) + "]" * n)
    if pick < 0.76:
        return raw('{"a":' * (n := rng.choice([10, 65, 1000, 50000])) + "1" + "}" * n)
    if pick < 0.82:
        return [rng.choice(NUMBERS)] * rng.choice([0, 1, 2, 3, 4, 1000, 200000])
    if pick < 0.86:
        return {"value": rng.choice(NUMBERS + TEXTS[:9]), "unit": rng.choice(["Pa", "m", "kg/m^999999999999", "s^-1", "mm", "", "m^" + "9" * 40, 7])}
    if depth < 2:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))] if pick < 0.93 else {"id": value(rng, depth + 1)}
    return []


def places(node, path=()):
    """Paths of all values below `node`."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield path + (key,)
        yield from places(child, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


# Mutations of JSON ----------------------------------------------------------------------------------------------------

def mutate_json(rng, root):
    paths = list(places(root))
    if not paths:
        return
    path = rng.choice(paths)
    parent, key = at(root, path[:-1]), path[-1]
    old = parent[key]
    pick = rng.random()
    if pick < 0.45:
        parent[key] = value(rng)
    elif pick < 0.6 and isinstance(old, (int, float)) and not isinstance(old, bool):
        parent[key] = rng.choice([-old, old * 10 ** rng.randrange(1, 12), old / 10 ** rng.randrange(1, 12), old + 1, str(old), [old], 1e5 * (old + 1)])
    elif pick < 0.7:
        del parent[key]
    elif pick < 0.8:
        parent[key] = json.loads(json.dumps(at(root, rng.choice(paths))))
    elif pick < 0.88 and isinstance(parent, dict):
        parent[rng.choice(TEXTS + [str(key) + "s", str(key).upper()])] = parent.pop(key)
    elif isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), value(rng) if rng.random() < 0.5 else old)
    else:
        parent[rng.choice(["n_refs", "array", "divisions", "type", "patch", "common", "generator", "dhat", "mesh", "root_path", "space"])] = value(rng)


POINTERS = ["", "/", "/geometry", "/geometry/-", "/geometry/0", "/geometry/99", "/geometry/00", "/geometry/-1", "/geometry/1e0", "/x", "/x/y", "geometry", "/~2", "/~",
            "/materials/0/E", "/time", "/patch", "/geometry/99999999999999999999", "/contact/\u0000"]


def operation(rng):
    kind = rng.choice(["add", "remove", "replace", "move", "copy", "copy", "test", "ADD", "", 3])
    op = {"op": kind, "path": rng.choice(POINTERS), "from": rng.choice(POINTERS), "value": value(rng)}
    for key in list(op):
        if rng.random() < 0.05:
            del op[key]
        elif rng.random() < 0.05:
            op[key] = value(rng)
    return op


def with_patch(rng, root):
    pick = rng.random()
    if pick < 0.35:  # doubles the scene again and again
        root["patch"] = [{"op": "copy", "from": rng.choice(["", "/geometry"]), "path": "/%s" % i if rng.random() < 0.5 else "/geometry/-"}
                         for i in range(rng.choice([5, 30, 200]))]
    else:
        root["patch"] = [operation(rng) for _ in range(rng.choice([1, 2, 5]))] if pick < 0.9 else value(rng)


def with_common(rng, root, folder):
    name = rng.choice(["input.json", "./input.json", "block.json", "loop.json", "loop.json", ".", "chain0.json", *TEXTS])
    root["common"] = name
    if name == "loop.json":
        (folder / name).write_text(json.dumps({"common": "input.json"}))
    if name == "chain0.json":
        for i in range(600):
            (folder / ("chain%d.json" % i)).write_text(json.dumps({"common": "chain%d.json" % (i + 1)}))


def encode(rng, root):
    text = unraw(json.dumps(root, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1])))
    content = text.encode("utf-8", errors="surrogatepass")
    pick = rng.random()
    if pick < 0.80:
        return content
    if pick < 0.90:
        return mutate_bytes(rng, content)
    return rng.choice([b"\xef\xbb\xbf" + content, text.encode("utf-16", errors="replace"), b"", b"null", b"\0" * 1000, b"[" * 1000000, content * 2,
                       content.replace(b'"', b"'"), content.replace(b":", b"", 1), b"//\n" + content, content.replace(b"geometry", b"geo\xffmetry")])


# Mutations of bytes ---------------------------------------------------------------------------------------------------

def mutate_bytes(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        if not content:
            break
        i = rng.randrange(len(content))
        pick = rng.random()
        if pick < 0.3:
            content[i] ^= 1 << rng.randrange(8)
        elif pick < 0.45:
            content[i] = rng.choice([0, 9, 10, 32, 45, 48, 57, 127, 255])
        elif pick < 0.55:
            del content[i:]
        elif pick < 0.65:
            del content[i:i + rng.randrange(1, 40)]
        elif pick < 0.75:
            content[i:i] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 20)))
        elif pick < 0.85:  # a count, tag or coordinate of the text or of the binary block
            numbers = [m.span() for m in re.finditer(rb"-?\d+(\.\d+)?", content)] or [(i, i)]
            begin, end = rng.choice(numbers)
            content[begin:end] = rng.choice([b"0", b"-1", b"99999999999", b"4294967295", b"2147483647", b"1e400", b"nan", b"1e9", b"-", b"18446744073709551616"])
        elif pick < 0.95:
            size = rng.choice([4, 8])
            content[i:i + size] = rng.choice([0, 1, -1, 2**31 - 1, 2**30, 1 << 16, -2**31]).to_bytes(size, "little", signed=True)
        else:
            content[i:i] = content[i // 2:i][:2000]
    return bytes(content)


def mutate_file(rng, path):
    path.write_bytes(mutate_bytes(rng, path.read_bytes()))


# Kinds of inputs ------------------------------------------------------------------------------------------------------

def for_scene(rng):
    return ["validate", "input.json"] if rng.random() < 0.6 else ["simulate", "input.json", "-o", "out", "-q", "--steps", "1"]


def json_input(rng, folder, scene):
    root = json.loads(json.dumps(scene))
    for _ in range(rng.choice([1, 1, 2, 4])):
        mutate_json(rng, root)
    return root


def scene_case(rng, folder, scenes):
    root = json_input(rng, folder, scenes[rng.choice(["block", "block", "flat", "fields"])])
    (folder / "input.json").write_bytes(encode(rng, root))
    return for_scene(rng)


def patch_case(rng, folder, scenes):
    root = json.loads(json.dumps(scenes["block"]))
    (with_patch if rng.random() < 0.6 else lambda r, s: with_common(r, s, folder))(rng, root)
    (folder / "input.json").write_bytes(encode(rng, root))
    return ["validate", "input.json"]


def size_case(rng, folder, scenes):
    """Sizes that no machine holds."""
    root = json.loads(json.dumps(scenes[rng.choice(["block", "flat"])]))
    entry = root["geometry"][0]
    big = lambda: rng.choice([300, 3000, 10000, 100000, 2**31 - 1])
    pick = rng.randrange(6)
    if pick == 0:
        entry["n_refs"] = rng.choice([10, 12, 20, 31, 100, 2**31 - 1])
    elif pick == 1:
        entry["generator"]["divisions"] = [big() for _ in entry["generator"]["divisions"]]
    elif pick == 2:
        entry.update({"type": "mesh_array", "array": {"size": [big() for _ in entry["generator"]["divisions"]], "offset": 2.0, "relative": True}})
    elif pick == 3:
        entry["generator"] = {"type": rng.choice(["ball", "disk"]), "radius": 1, "divisions": big()}
    elif pick == 4:
        root["geometry"].append({"name": "line", "mesh": "faces.obj", "is_obstacle": True, "extract": "edges", "n_refs": rng.choice([20, 30, 100])})
    else:
        root["contact"] = {"enabled": True, "dhat": rng.choice([1e3, 1e10, 1e300])}
        entry["generator"]["divisions"] = [6 for _ in entry["generator"]["divisions"]]
    (folder / "input.json").write_text(json.dumps(root))
    return for_scene(rng)


def mesh_case(rng, folder, scenes):
    name = rng.choice([n for n in scenes if " " in n])
    mutate_file(rng, folder / name.split()[-1])
    shutil.copy(folder / (name + ".json"), folder / "input.json")
    return for_scene(rng)


def field_case(rng, folder, scenes):
    mutate_file(rng, folder / rng.choice(["field.h5", "field.h5", "volumes.txt"]))
    shutil.copy(folder / "fields.json", folder / "input.json")
    return for_scene(rng)


def study_case(rng, folder, scenes):
    (folder / "input.json").write_bytes(encode(rng, json_input(rng, folder, scenes["study"])))
    return ["gradient", "input.json", "-o", "out", "-q"]


def data_case(rng, folder, scenes):
    mutate_file(rng, folder / rng.choice(["observed.csv", "markers.csv", "reference.h5", "drop.json"]))
    return ["gradient", "study.json", "-o", "out", "-q"]


def folder_case(rng, folder, scenes):
    kind = rng.choice(["run", "grad"])
    files = sorted(p for p in (folder / kind).rglob("*") if p.is_file())
    path = rng.choice(files)
    pick = rng.random()
    if pick < 0.7:
        mutate_file(rng, path)
    elif pick < 0.8:
        path.unlink()
    elif pick < 0.9:
        path.unlink()
        path.mkdir()
    else:
        shutil.copy(rng.choice(files), path)
    if rng.random() < 0.5:
        return ["info", kind]
    return ["simulate" if kind == "run" else "gradient", "--restart", kind, "-q"]


def command_case(rng, folder, scenes):
    words = ["validate", "simulate", "gradient", "info", "schema", "scene", "study", "--steps", "-1", "abc", "1e99", "--restart", "-o", "--petsc", "-ksp_type nonsense",
             "-q", "-v", "--nothing", "", "block.json", "field.h5", ".", "/dev/null", "run", "\udcff\udcfe", "--check", "x" * 5000]
    return [rng.choice(words[:5])] + [rng.choice(words) for _ in range(rng.randrange(4))]


KINDS = {scene_case: 34, patch_case: 10, size_case: 8, mesh_case: 18, field_case: 6, study_case: 10, data_case: 5, folder_case: 6, command_case: 3}


# Runs -----------------------------------------------------------------------------------------------------------------

def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder):
    """Exit code, output, peak resident set [bytes], processor time [s]."""
    # An MPI job that ends removes the session directory that it shares with those that begin.
    environment = dict(ENVIRONMENT, OMPI_MCA_orte_tmpdir_base=str(folder.with_suffix(".session")))
    with open(folder / "output.txt", "wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   preexec_fn=limit_memory)
        begin, asked = time.monotonic(), False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            elapsed = time.monotonic() - begin
            if not asked and elapsed > ASKED_TO_STOP and command[1] in ("simulate", "gradient"):
                process.send_signal(signal.SIGUSR1)
                asked = True
            if elapsed > CLOCK_FACTOR * MAX_SECONDS:
                process.kill()
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "output.txt").read_bytes().decode(errors="replace")
    return process.returncode, text, 1024 * usage.ru_maxrss, usage.ru_utime + usage.ru_stime


def judge(code, text, memory, seconds):
    """What is wrong with the end of a run; empty if nothing."""
    wrong = []
    if code not in CODES:
        wrong.append("exit %d" % code)
    if code in (2, 3, 4) and not re.search(r"recoil\b.{10}|\berror\b.{10}|failed|DAMAGED: .{10}", text, re.DOTALL):
        wrong.append("no sentence")
    if found := LIBRARY_TEXT.search(text):
        wrong.append("text of a library: " + found.group())
    if memory > MAX_BYTES:
        wrong.append("%.1f GB" % (memory / 2**30))
    if seconds > MAX_SECONDS:
        wrong.append("%.0f s" % seconds)
    return wrong


def case(number, options, scenes, sound):
    rng = random.Random("%d" % number)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="input-%d-" % number, dir=options.scratch))
    shutil.copytree(sound, folder, dirs_exist_ok=True)
    kind = rng.choices(list(KINDS), KINDS.values())[0]
    arguments = kind(rng, folder, scenes)
    code, text, memory, seconds = run([options.recoil, *arguments], folder)
    wrong = judge(code, text, memory, seconds)
    if options.keep and (wrong or options.show is not None):
        kept = pathlib.Path(options.keep) / str(number)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept, ignore_dangling_symlinks=True)
        (kept / "command.txt").write_bytes(os.fsencode(" ".join(arguments) + "\n"))
    shutil.rmtree(folder, ignore_errors=True)
    return kind.__name__.removesuffix("_case"), code, wrong, text, arguments, memory, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first input")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for the inputs that fail")
    parser.add_argument("--show", type=int, help="only this input, with its output")
    options = parser.parse_args()
    options.recoil = os.path.abspath(options.recoil)
    if not os.access(options.recoil, os.X_OK):
        parser.error("--recoil: %s is no program" % options.recoil)
    numbers = [options.show] if options.show is not None else range(options.seed, options.seed + options.count)

    histogram, failures, most, longest = collections.Counter(), [], 0, 0
    with tempfile.TemporaryDirectory(prefix="recoil-mutate-") as scratch:
        sound = pathlib.Path(scratch) / "sound"
        sound.mkdir()
        options.scratch = scratch
        scenes = seed_inputs.write_inputs(sound)
        seed_inputs.write_folders(options.recoil, sound, ENVIRONMENT)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for number, result in zip(numbers, pool.map(lambda n: case(n, options, scenes, sound), numbers)):
                kind, code, wrong, text, arguments, memory, seconds = result
                histogram[kind, code] += 1
                most, longest = max(most, memory), max(longest, seconds)
                if wrong:
                    failures.append(number)
                    print("FAIL %d (%s, %s): %s\n     %s" % (number, kind, ascii(" ".join(arguments)[:60]), ", ".join(wrong), ascii(text.strip()[-300:])), flush=True)
                elif options.show is not None:
                    print("%s ends with %d\n%s" % (ascii(" ".join(arguments)), code, text))
    for kind in sorted({k for k, _ in histogram}):
        print("%-8s" % kind, "  ".join("%d: %d" % (c, n) for (k, c), n in sorted(histogram.items()) if k == kind))
    codes = collections.Counter()
    for (_, code), n in histogram.items():
        codes[code] += n
    print("all      " + "  ".join("%d: %d" % item for item in sorted(codes.items())))
    print("at most %.2f GB and %.1f s; %d of %d failed %s" % (most / 2**30, longest, len(failures), len(numbers), failures or ""))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

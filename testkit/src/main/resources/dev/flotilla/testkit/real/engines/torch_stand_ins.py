"""Empty stand-ins for the NVIDIA libraries that PyPI's torch is linked to, so that it can be imported without them.

usage: torch_stand_ins.py TORCH_LIB_FOLDER      (needs gcc, nm and readelf)

The build of torch on PyPI for Linux needs some 3 GB of NVIDIA's libraries to be loaded at all, also where nothing runs
on a GPU. Each library that is missing is made here with every symbol that torch's own libraries want of nobody else.
Each of them gives 100, which is cudaErrorNoDevice.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

FOREIGN = re.compile(r"lib(cu|nccl|nv)")
DRIVER = "libcuda.so.1"  # torch looks for it only when it is asked for a GPU
SYSTEM = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1"]
LOADERS = ["/lib64/ld-linux-x86-64.so.2"]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def needed(library):
    return set(re.findall(r"NEEDED.*\[(.*?)\]", output("readelf", "-dW", library)))


def symbols(library):
    """(defined, undefined) of its dynamic symbols; weak ones may stay undefined."""
    defined, undefined = set(), set()
    for line in output("nm", "-D", library).splitlines():
        match = re.match(r"^(?:[0-9a-f]{16}|\s{16}) (\w) (\S+)$", line)
        if not match or match[1] in "wv":
            continue
        if match[1] == "U":
            undefined.add(match[2])
        else:
            defined.add(match[2].split("@")[0])
    return defined, undefined


def system_path(name):
    return output("gcc", "-print-file-name=" + name).strip()


def wanted_of_nobody(libraries):
    """version -> symbols that none of the libraries, nor the system, nor Python has."""
    defined, undefined = set(), set()
    for library in libraries:
        has, wants = symbols(library)
        defined |= has
        undefined |= wants
    for library in [system_path(name) for name in SYSTEM] + LOADERS:
        defined |= symbols(os.path.realpath(library))[0]
    wanted = {}
    for symbol in undefined:
        name, _, version = symbol.partition("@")
        if name not in defined and not name.startswith(("Py", "_Py")):
            wanted.setdefault(version.lstrip("@"), set()).add(name)
    return wanted


def write_sources(wanted, source, versions):
    names = sorted({name for names in wanted.values() for name in names})
    with open(source, "w", encoding="ascii") as file:
        file.write("int stand_in(void) { return 100; }\n")
        file.writelines('__attribute__((alias("stand_in"))) int %s(void);\n' % name for name in names)
    with open(versions, "w", encoding="ascii") as file:
        for version, members in wanted.items():
            if version:
                file.write("%s { global: %s };\n" % (version, " ".join(name + ";" for name in sorted(members))))


def main(folder):
    libraries = [file for file in glob.glob(os.path.join(folder, "*.so*")) if os.path.isfile(file)]
    present = {os.path.basename(library) for library in libraries}
    missing = {name for library in libraries for name in needed(library) if FOREIGN.match(name)} - present - {DRIVER}
    with tempfile.TemporaryDirectory() as temporary:
        source, versions = os.path.join(temporary, "stand_ins.c"), os.path.join(temporary, "versions")
        write_sources(wanted_of_nobody(libraries), source, versions)
        for name in sorted(missing):
            command = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", "-o", os.path.join(folder, name)]
            command += ["-Wl,-soname," + name, source, "-Wl,--version-script=" + versions]
            subprocess.run(command, check=True)
    print("made:", *sorted(missing))


if __name__ == "__main__":
    main(sys.argv[1])

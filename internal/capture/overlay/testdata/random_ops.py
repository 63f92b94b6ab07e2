"""Does random things to the files below the working directory and prints what it sees.

Run twice on equal trees, once for real and once under the overlay, it must
print the same: python3 random_ops.py SEED COUNT.
"""
import os
import random
import shutil
import subprocess
import sys

rnd = random.Random(int(sys.argv[1]))
TOP = os.getcwd()
NAMES = ["a", "b", "c", "dir", "deep", "x.txt", "with space", "\u00e9"]


def path():
    """Some path, there or not, with links and dots in it now and then."""
    parts = [rnd.choice(NAMES) for _ in range(rnd.choice([1, 1, 2, 2, 3]))]
    if rnd.random() < 0.1:
        parts.insert(rnd.randrange(len(parts)), rnd.choice([".", "..", "dir/.."]))
    p = "/".join(parts)
    if os.path.relpath(os.path.abspath(p), TOP).startswith(".."):
        p = parts[-1]
    if rnd.random() < 0.2:
        p = os.path.join(os.getcwd(), p)
    return p + ("/" if rnd.random() < 0.03 else "")


def show(p):
    return os.path.relpath(p, TOP) if os.path.isabs(p) else p


def kind(st):
    return (oct(st.st_mode >> 12), st.st_size if not os.path.stat.S_ISDIR(st.st_mode) else "-")


def op_write():
    p, mode = path(), rnd.choice(["w", "a", "r+", "x", "w+", "a+"])
    with open(p, mode) as f:
        if "+" in mode and rnd.random() < 0.5:
            f.seek(rnd.randrange(5))
        f.write(str(rnd.randrange(1000)))
    return show(p), mode


def op_read():
    p = path()
    with open(p) as f:
        return show(p), f.read()


def op_stat():
    p = path()
    return show(p), kind(os.stat(p))


def op_lstat():
    p = path()
    return show(p), kind(os.lstat(p))


def op_exists():
    p = path()
    return show(p), os.path.exists(p), os.path.isdir(p), os.path.islink(p), os.access(p, os.R_OK | os.W_OK)


def op_list():
    p = path()
    return show(p), sorted(os.listdir(p))


def op_scan():
    p = path()
    with os.scandir(p) as it:
        return show(p), sorted((e.name, e.is_dir(follow_symlinks=False), e.is_file(), e.is_symlink()) for e in it)


def op_mkdir():
    p = path()
    os.mkdir(p)
    return show(p)


def op_makedirs():
    p = path()
    os.makedirs(p, exist_ok=rnd.random() < 0.7)
    return show(p)


def op_unlink():
    p = path()
    os.unlink(p)
    return show(p)


def op_rmdir():
    p = path()
    os.rmdir(p)
    return show(p)


def op_rmtree():
    p = path()
    if os.path.realpath(p) == TOP or TOP.startswith(os.path.realpath(p)) or os.getcwd().startswith(os.path.realpath(p)):
        return "spared"
    shutil.rmtree(p)
    return show(p)


def op_rename():
    p, q = path(), path()
    if os.getcwd().startswith(os.path.realpath(p)):
        return "spared"
    os.rename(p, q)
    return show(p), show(q)


def op_move():
    p, q = path(), path()
    real = os.path.realpath(p)
    if os.getcwd().startswith(real) or os.path.realpath(q).startswith(real):
        return "spared"  # a tree that is moved into itself is copied for ever
    shutil.move(p, q)
    return show(p), show(q)


def op_symlink():
    p = path()
    target = rnd.choice([rnd.choice(NAMES), "../" + rnd.choice(NAMES), os.path.join(TOP, rnd.choice(NAMES)), "nowhere"])
    os.symlink(target, p)
    return show(p), show(target)


def op_readlink():
    p = path()
    return show(p), show(os.readlink(p))


def op_realpath():
    p = path()
    return show(p), show(os.path.realpath(p)), show(os.path.realpath(p, strict=True))


def op_truncate():
    p = path()
    os.truncate(p, rnd.randrange(4))
    return show(p)


def op_chdir():
    p = rnd.choice([TOP, path(), path()])
    if not os.path.realpath(p).startswith(TOP):
        return "spared"
    os.chdir(p)
    return show(os.getcwd())


def op_copytree():
    p, q = path(), path()
    real = os.path.realpath(p)
    if os.path.abspath(q).startswith(real) or os.path.realpath(q).startswith(real):
        return "spared"
    shutil.copytree(p, q, symlinks=True)
    return show(p), show(q)


def op_copy():
    p, q = path(), path()
    shutil.copy2(p, q)
    return show(p), show(q)


def op_dirfd():
    fd = os.open(path(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        name, what = rnd.choice(NAMES), rnd.randrange(5)
        if what == 0:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=fd))
        elif what == 1:
            os.unlink(name, dir_fd=fd)
        elif what == 2:
            os.mkdir(name, dir_fd=fd)
        elif what == 3:
            return kind(os.stat(name, dir_fd=fd, follow_symlinks=False))
        return what, sorted(os.listdir(fd))
    finally:
        os.close(fd)


def op_shell():
    n = rnd.choice(["a", "b", "c"])
    command = rnd.choice([
        "echo x >> %s", "cat %s", "ls -A", "mv %s moved", "rm -rf moved", "cp -r dir copied; rm -rf copied",
        "test -e %s && echo yes", "ln -s %s made; ls -A; rm -f made", "find . | sort | head -50",
    ])
    r = subprocess.run(command % n if "%s" in command else command, shell=True, capture_output=True, text=True)
    return command, r.returncode, r.stdout


def tree():
    """All that is there: names, kinds, contents."""
    out = []
    for folder, folders, files in os.walk(TOP):
        folders.sort()
        for name in sorted(folders + files):
            p = os.path.join(folder, name)
            if os.path.islink(p):
                out.append((show(p), "->", show(os.readlink(p))))
            elif os.path.isfile(p):
                out.append((show(p), open(p).read()))
            else:
                out.append((show(p), "dir"))
    return sorted(out)


def main():
    ops = [f for name, f in sorted(globals().items()) if name.startswith("op_")]
    weights = [4 if f in (op_write, op_chdir) else 2 if f in (op_rename, op_makedirs) else 1 for f in ops]
    for i in range(int(sys.argv[2])):
        op = rnd.choices(ops, weights)[0]
        try:
            result = op()
        except OSError as e:
            # Which of several reasons comes first is the kernel's choice.
            result = "error", type(e).__name__ if not isinstance(e, shutil.Error) else "shutil.Error"
        print(i, op.__name__, result)
        if i % 20 == 0:
            print("tree", tree())
    os.chdir(TOP)
    print("tree", tree())


main()

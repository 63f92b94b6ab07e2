"""The parts that need no PyTorch; run with the helper's folder on PYTHONPATH and no settings."""
import importlib
import os
import subprocess
import sys
import tempfile

helper = sys.argv[1]
assert "json" not in sys.modules or sys.flags.isolated == 0
import _plimsoll
from _plimsoll import imports

folder = tempfile.mkdtemp()
sys.path.insert(0, folder)


def write(name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


# A function runs right after an import, once, and an error in it harms nobody.
write("watched.py", "value = 1\n")
seen = []
imports.after("watched", lambda module: seen.append(module.value))
imports.after("watched", lambda module: 1 / 0)
import watched

importlib.reload(watched)
assert seen == [1], seen
assert watched.__spec__.loader.get_source("watched") == "value = 1\n"
imports.after("watched", lambda module: seen.append(2))
assert seen == [1, 2]

# Many look whether a module is installed before they import it.
write("looked_at.py", "")
imports.after("looked_at", lambda module: seen.append(3))
for _ in range(2):
    importlib.util.find_spec("looked_at")
assert seen == [1, 2]
import looked_at

assert seen == [1, 2, 3], seen

# A module that is not there is still not there.
imports.after("absent_module", seen.append)
try:
    import absent_module
except ModuleNotFoundError:
    pass

# The user's own sitecustomize runs, and sees itself under its name.
write("sitecustomize.py", "import sys\nsys.stdout.write('user %s\\n' % sys.modules['sitecustomize'].__file__)\n")
env = dict(os.environ, PYTHONPATH=os.pathsep.join((helper, folder)))
env.pop("PLIMSOLL_CAPTURE", None)
out = subprocess.run([sys.executable, "-c", "print('script')"], env=env, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
assert out[0] == "user " + os.path.join(folder, "sitecustomize.py") and out[1] == "script", out

# Settings that cannot be read are said on stderr, and the script runs.
env["PLIMSOLL_CAPTURE"] = os.path.join(folder, "absent.json")
run = subprocess.run([sys.executable, "-c", "print('script')"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
assert b"script" in run.stdout and b"plimsoll: helper:" in run.stderr, run

# A process without PyTorch sees nothing but the environment.
write("settings.json", '{"out": "%s", "world": 4, "rank": 2}' % folder)
env["PLIMSOLL_CAPTURE"] = os.path.join(folder, "settings.json")
script = "import os, sys; print(os.environ['RANK'], os.environ['WORLD_SIZE'], os.environ['WANDB_MODE'], sys.excepthook is sys.__excepthook__, sys.exit.__module__)"
out = subprocess.run([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
assert out[1].split() == ["2", "4", "disabled", "True", "sys"], out

# Every file is understood by this version of Python.
for name in sorted(os.listdir(os.path.join(helper, "_plimsoll"))):
    if name.endswith(".py"):
        with open(os.path.join(helper, "_plimsoll", name), encoding="utf-8") as file:
            compile(file.read(), name, "exec")
print("fine on Python %d.%d" % sys.version_info[:2])

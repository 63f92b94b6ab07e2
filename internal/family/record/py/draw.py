"""Draws the dimensions of a recording, and says of which kind each layer is."""
import random


def dims(row, structure, job):
    """Dimensions in the order of the row's draw; an expression sees the names before it."""
    rnd = random.Random(str(job["seed"]))
    found = {}
    regime = next((r for r in row.get("regimes", []) if r["name"] == job.get("regime")), {})
    draws = dict(structure.get("draw") or row["draw"])
    draws.update({name: e for name, e in regime.get("draw", {}).items() if name in draws})
    for name, expression in draws.items():
        found[name] = eval(expression, {"pick": lambda *values: rnd.choice(values)}, found)
    for name, choices in job.get("pick", {}).items():
        if name in found or name in ("B", "S", "T", "A", "D"):
            found[name] = rnd.choice(choices)
    for s in row["stacks"]:
        found[s["count"]["name"]] = rnd.choice(layers(s)) + more(s, job) + (1 if job.get("shard") else 0)
    if "seq" in row:
        found["S"] = row["seq"]
    return found


def more(stack, job):
    """Further layers where a tape is checked: so many that each kind has one between others of it."""
    if not job.get("more"):
        return 0
    rule = stack["kinds"]
    return max(3, rule["period"]["default"] + 1) if isinstance(rule, dict) and "period" in rule else 3


def layers(stack):
    """How many layers show every kind of layer between every kind of neighbours, twice."""
    rule = stack["kinds"]
    if rule == "one" or rule["rule"] == "first":
        return (4, 5)
    if "default" in rule:
        n = len(rule["default"])
    elif "period" in rule:
        n = rule["period"]["default"]
        return (2 * n, 2 * n + 1, 2 * n + 2, 2 * n + 3)  # each may be the last kind
    else:
        n = 2
    return (2 * n + 2, 2 * n + 3)


def value(config, key):
    for p in key.split("."):
        if not isinstance(config, dict) or p not in config:
            return None
        config = config[p]
    return config


def kinds_of(stack, config, n):
    """The kind of each of n layers; internal/family does the same for a user's config."""
    rule = stack["kinds"]
    if rule == "one":
        return ["one"] * n
    return globals()["rule_" + rule["rule"]](rule, config, n)


def rule_first(rule, config, n):
    return [rule["first"]] + [rule["rest"]] * (n - 1)


def rule_attention_types(rule, config, n):
    out = []
    for names, times in value(config, rule["key"]) or []:
        out += names * times
    return out or [rule["default"][i % len(rule["default"])] for i in range(n)]


def rule_layer_types(rule, config, n):
    types = value(config, rule["key"])
    if types:
        out = [rule["values"][t] for t in types]
    elif "default" in rule:
        out = [rule["default"][i % len(rule["default"])] for i in range(n)]
    else:
        period = rule["period"]
        every = value(config, period["key"]) or period["default"]
        out = [period["rest"] if (i + period.get("shift", 0)) % every else period["head"] for i in range(n)]
    if rule.get("first") and out:
        out[0] = rule["first"]
    return out


def rule_sparse(rule, config, n):
    dense = (value(config, rule["dense_first_key"]) if rule.get("dense_first_key") else None) or 0
    step = (value(config, rule["step_key"]) if rule.get("step_key") else None) or rule.get("step", 1)
    only = set((value(config, rule["dense_list_key"]) if rule.get("dense_list_key") else None) or [])
    return [rule["dense"] if i < dense or i in only or (i + rule.get("shift", 0)) % step else rule["sparse"] for i in range(n)]

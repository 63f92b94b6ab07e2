package proc

import (
	"strings"
	"testing"
)

func TestSecretsAreMasked(t *testing.T) {
	for name, row := range map[string]struct{ words, want string }{
		"after a flag":               {"python|t.py|--api-key|abc|--lr|1", "python t.py --api-key *** --lr 1"},
		"in a flag":                  {"python|t.py|--api-key=abc|--wandb_api_key=x", "python t.py --api-key=*** --wandb_api_key=***"},
		"with underscores":           {"x|--hf_token=abc|--dbPassword=q|--HFToken|q", "x --hf_token=*** --dbPassword=*** --HFToken ***"},
		"a variable before":          {"env|HF_TOKEN=abc|python", "env HF_TOKEN=*** python"},
		"in a script":                {"bash|-c|export WANDB_API_KEY=abc; python t.py --token abc --epochs 3", "bash -c export WANDB_API_KEY=***; python t.py --token *** --epochs 3"},
		"an address":                 {"x|s3://user:pass@host/a|https://tok@github.com/a", "x s3://user:***@host/a https://***@github.com/a"},
		"an address's query":         {"x|https://h/a?token=abc&x=1&api_key=2", "x https://h/a?token=***&x=1&api_key=***"},
		"a header":                   {"curl|-H|Authorization: Bearer abc.def", "curl -H Authorization: ***"},
		"by its look":                {"x|hf_abcdefghijklmnopqrstuv|--x=ghp_abcdefghijklmnopqrstuvwxyz", "x *** --x=***"},
		"curl's user":                {"curl|-u|me:pw|h", "curl -u me:*** h"},
		"JSON":                       {`x|{"api_key": "abc", "lr": "1"}`, `x {"api_key": "***", "lr": "1"}`},
		"hydra":                      {"x|wandb.api_key=abc|trainer.lr=1", "x wandb.api_key=*** trainer.lr=1"},
		"tokens of a model are none": {"x|--max-tokens|512|--tokenizer=gpt2|--pad-token|<pad>|--num_tokens=3", "x --max-tokens 512 --tokenizer=gpt2 --pad-token <pad> --num_tokens=3"},
		"keys that are none":         {"x|--key|label|--keys=a|--sort-key=b", "x --key label --keys=a --sort-key=b"},
		"a flag without a value":     {"x|--use-auth-token|--lr=1", "x --use-auth-token --lr=1"},
		"an address without any":     {"x|http://host:80/a@b", "x http://host:80/a@b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := commandLine([]byte(strings.ReplaceAll(row.words, "|", "\x00") + "\x00")); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

func TestContainersAndJobs(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for name, row := range map[string]struct{ text, container, job string }{
		"docker":              {"0::/system.slice/docker-" + id + ".scope", "0123456789ab", ""},
		"docker, version 1":   {"5:cpu:/docker/" + id + "\n4:memory:/docker/" + id, "0123456789ab", ""},
		"kubernetes, systemd": {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12345678_1234_1234_1234_123456789abc.slice/cri-containerd-" + id + ".scope", "0123456789ab", "k8s:12345678-1234-1234-1234-123456789abc"},
		"kubernetes":          {"0::/kubepods/besteffort/pod12345678-1234-1234-1234-123456789abc/" + id, "0123456789ab", "k8s:12345678-1234-1234-1234-123456789abc"},
		"slurm":               {"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "", "slurm:4711"},
		"slurm, version 1":    {"3:cpuset:/slurm/uid_1000/job_12/step_batch", "", "slurm:12"},
		"lxc":                 {"0::/lxc.payload.web/init.scope", "web", ""},
		"none":                {"0::/user.slice/user-1000.slice/session-2.scope", "", ""},
		"job_ of others":      {"0::/build/job_7/x", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c, j := fromCgroup(row.text); c != row.container || j != row.job {
				t.Errorf("container %q, job %q; want %q, %q", c, j, row.container, row.job)
			}
		})
	}
}

func FuzzCommandLine(f *testing.F) {
	f.Add([]byte("python\x00--token\x00a\x00https://a:b@c\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := commandLine(b); len(got) > maxCommand {
			t.Errorf("%d bytes are kept", len(got))
		}
	})
}

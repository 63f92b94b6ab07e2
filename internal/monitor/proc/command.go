package proc

import (
	"bytes"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pattern"
)

// maxCommand is how much of a command line is kept.
const maxCommand = 4096

// mask stands for a secret.
const mask = "***"

// commandLine joins the words of /proc/PID/cmdline with secrets masked. Words with
// blanks are not quoted: it is for reading.
func commandLine(text []byte) string {
	text = bytes.TrimRight(text, "\x00")
	if len(text) > 2*maxCommand {
		text = text[:2*maxCommand]
	}
	words := strings.Split(string(text), "\x00")
	out := strings.Join(maskSecrets(words), " ")
	if len(out) > maxCommand {
		out = out[:maxCommand]
	}
	return out
}

var (
	// Credentials in an address, and in its query.
	urlUser  = pattern.New(`([a-zA-Z][a-zA-Z0-9+.-]*://)([^/\s:@]*)(:[^/\s@]*)?@`)
	urlQuery = pattern.New(`(?i)([?&](?:[a-z_-]*(?:token|secret|passw(?:or)?d|signature|credential)|(?:api|access)?[_-]?key|sig|auth)=)[^&\s#]+`)
	// Tokens that say what they are by how they begin: Hugging Face, OpenAI and
	// Anthropic, GitHub, GitLab, Slack, AWS, Google, and JSON web tokens.
	wellKnown = pattern.New(`\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abpors]-[A-Za-z0-9-]{10,}|A(?:KI|SI)A[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)`)
	// An HTTP header, as given to curl.
	header = pattern.New(`(?i)\b((?:proxy-)?authorization:\s*|bearer\s+|x-api-key:\s*|cookie:\s*)\S.*`)
	// NAME=value at the beginning of a word or inside a shell's script.
	assignment = pattern.New(`(^|[\s;&"'(])(-{0,2}[A-Za-z_][A-Za-z0-9_.-]*)=("[^"]*"|'[^']*'|[^\s;&"')]+)`)
	// --name value inside a shell's script.
	spaced = pattern.New(`(^|\s)(--[A-Za-z][A-Za-z0-9_.-]*)(\s+)("[^"]*"|'[^']*'|[^\s-][^\s;&]*)`)
)

// member is a member of a JSON object.
var member = pattern.New(`("([A-Za-z_][A-Za-z0-9_.-]*)"\s*:\s*)"[^"]*"`)

// maskSecrets returns the words with what looks like a secret replaced. A word
// after a flag with the name of a secret is one.
func maskSecrets(words []string) []string {
	out := make([]string, len(words))
	next := false
	for i, w := range words {
		switch {
		case next && !strings.HasPrefix(w, "--"):
			out[i] = mask
		default:
			out[i] = maskWord(w)
		}
		next = strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && isSecret(w)
		if i > 0 && (words[i-1] == "-u" || words[i-1] == "--user") {
			if user, _, ok := strings.Cut(w, ":"); ok {
				out[i] = user + ":" + mask
			}
		}
	}
	return out
}

func maskWord(w string) string {
	w = urlUser.ReplaceAllStringFunc(w, func(s string) string {
		m := urlUser.FindStringSubmatch(s)
		if m[3] == "" { // a token alone
			return m[1] + mask + "@"
		}
		return m[1] + m[2] + ":" + mask + "@"
	})
	w = urlQuery.ReplaceAllString(w, "${1}"+mask)
	w = header.ReplaceAllString(w, "${1}"+mask)
	w = assignment.ReplaceAllStringFunc(w, func(s string) string {
		m := assignment.FindStringSubmatch(s)
		if !isSecret(m[2]) {
			return s
		}
		return m[1] + m[2] + "=" + mask
	})
	w = member.ReplaceAllStringFunc(w, func(s string) string {
		m := member.FindStringSubmatch(s)
		if !isSecret(m[2]) {
			return s
		}
		return m[1] + `"` + mask + `"`
	})
	if strings.ContainsAny(w, " \t\n") {
		w = spaced.ReplaceAllStringFunc(w, func(s string) string {
			m := spaced.FindStringSubmatch(s)
			if !isSecret(m[2]) {
				return s
			}
			return m[1] + m[2] + m[3] + mask
		})
	}
	return wellKnown.ReplaceAllString(w, mask)
}

// secretEnds end the name of a setting that is a secret, secretWords are the whole
// last word of one. notSecret are words that make a token one of a vocabulary.
var (
	secretEnds  = []string{"token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "apikey"}
	secretWords = map[string]bool{"pwd": true, "pass": true, "auth": true, "pat": true}
	keyWords    = map[string]bool{"api": true, "access": true, "private": true, "secret": true, "auth": true, "account": true, "encryption": true, "signing": true, "wandb": true, "comet": true, "license": true}
	notSecret   = map[string]bool{"pad": true, "eos": true, "bos": true, "unk": true, "mask": true, "sep": true, "cls": true, "special": true, "stop": true, "image": true, "per": true, "max": true, "num": true, "new": true, "add": true, "use": true, "no": true}
)

var nameParts = pattern.New(`[A-Z]+[a-z]*|[a-z]+|\d+`)

// isSecret says whether a setting with this name has a secret as its value.
func isSecret(name string) bool {
	parts := nameParts.FindAllString(name, -1)
	if len(parts) == 0 {
		return false
	}
	for i := range parts {
		parts[i] = strings.ToLower(parts[i])
	}
	last, before := parts[len(parts)-1], ""
	if len(parts) > 1 {
		before = parts[len(parts)-2]
	}
	if last == "key" || last == "id" && before == "key" {
		for _, p := range parts {
			if keyWords[p] {
				return true
			}
		}
		return false
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(last, end) {
			return !notSecret[before]
		}
	}
	return secretWords[last] && !notSecret[before]
}

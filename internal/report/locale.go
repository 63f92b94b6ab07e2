package report

import "strings"

// utf8Locale reports whether the locale can print UTF-8. The first variable
// that is set wins, as in POSIX (XBD 8.2). With none set it says yes: on a
// laptop without a locale, in a container or in CI, UTF-8 is what is read,
// while an explicit "C" or "POSIX" is a wish.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

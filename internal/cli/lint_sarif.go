package cli

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
)

// The parts of SARIF 2.1.0 that findings need. Names are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       string      `json:"id"`
		Name     string      `json:"name"`
		Short    sarifText   `json:"shortDescription"`
		Full     sarifText   `json:"fullDescription"`
		Help     sarifText   `json:"help"`
		HelpURI  string      `json:"helpUri"`
		Defaults sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Enabled bool   `json:"enabled"`
		Level   string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
)

const (
	homePage  = "https://github.com/plimsoll-dev/plimsoll"
	rulePages = homePage + "/blob/main/docs/rules/"
)

var sarifLevels = map[string]string{"error": "error", "warning": "warning", "info": "note"}

// writeSARIF writes findings for code hosts and editors.
func writeSARIF(w io.Writer, a *lintAnswer, all []*lint.Rule) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "plimsoll", Version: buildVersion().Version, InformationURI: homePage, Rules: []sarifRule{},
		}},
		Results:    []sarifResult{},
		ColumnKind: "unicodeCodePoints",
	}
	index := map[string]int{}
	for i, r := range all {
		index[r.Code] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: r.Code, Name: r.Name, Short: sarifText{Text: r.Title + "."}, Full: sarifText{Text: r.Why + "."},
			Help: sarifText{Text: r.Why + ". Cost: " + r.Cost + ".", Markdown: lint.Explain(r)}, HelpURI: rulePages + r.Name + ".md",
			Defaults: sarifConfig{!r.Off, sarifLevels[r.Severity.String()]},
		})
	}
	for _, f := range a.Findings {
		run.Results = append(run.Results, sarifResultOf(f, index[f.Code]))
	}
	invocation := sarifInvocation{Successful: true}
	for _, p := range a.Passed {
		at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(p.File)}}}
		if p.Line > 0 {
			at.Physical.Region = &sarifRegion{p.Line, 1, p.Line, 1}
		}
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"warning", sarifText{Text: "passed over: " + p.Message}, []sarifLocation{at}})
	}
	run.Invocations = []sarifInvocation{invocation}
	return indented(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func sarifResultOf(f workspace.Finding, index int) sarifResult {
	r := sarifResult{
		RuleID: f.Code, RuleIndex: index, Level: sarifLevels[f.Severity],
		Message:      sarifText{Text: fmt.Sprintf("%s: %s. Cost: %s.", f.Message, f.Why, f.Cost)},
		Locations:    []sarifLocation{sarifPlace(f.File, f.Range)},
		Fingerprints: map[string]string{"plimsoll/v1": f.Signature},
	}
	for _, n := range f.Notes {
		at := sarifPlace(f.File, n.Range)
		at.Message = &sarifText{Text: n.Message}
		r.Related = append(r.Related, at)
	}
	if f.Fix != nil && f.Cell == 0 { // a notebook's lines are not its file's
		change := sarifChange{Artifact: sarifArtifact{uriOf(f.File)}}
		for _, e := range f.Fix.Edits {
			change.Replacements = append(change.Replacements, sarifReplacement{regionOf(e.Range), sarifText{Text: e.Text}})
		}
		r.Fixes = []sarifFix{{sarifText{Text: f.Fix.Title}, []sarifChange{change}}}
	}
	return r
}

// sarifPlace is a place; of a notebook the cell is a logical one.
func sarifPlace(file string, r workspace.Range) sarifLocation {
	at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(file)}}}
	if r.Cell > 0 {
		at.Logical = []sarifLogical{{fmt.Sprintf("cell %d, line %d", r.Cell, r.Line)}}
		return at
	}
	region := regionOf(r)
	at.Physical.Region = &region
	return at
}

func regionOf(r workspace.Range) sarifRegion {
	return sarifRegion{r.Line, r.Column, r.EndLine, r.EndColumn}
}

// uriOf is a file's path as a reference.
func uriOf(file string) string {
	if path.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: file}).String()
	}
	return (&url.URL{Path: file}).String()
}

// writeAnnotations writes findings as commands of GitHub's runners, which show
// them beside the code.
func writeAnnotations(w io.Writer, a *lintAnswer) error {
	out := &strings.Builder{}
	for _, f := range a.Findings {
		place := fmt.Sprintf("file=%s,line=%d,endLine=%d", property(f.File), f.Line, f.EndLine)
		if f.Line == f.EndLine { // columns are not allowed over several lines
			place += fmt.Sprintf(",col=%d,endColumn=%d", f.Column, f.EndColumn)
		}
		text := f.Message
		if f.Cell > 0 {
			place = "file=" + property(f.File)
			text = fmt.Sprintf("cell %d, line %d: %s", f.Cell, f.Line, text)
		}
		fmt.Fprintf(out, "::%s %s,title=%s::%s\n", annotations[f.Severity], place, property(f.Code+" "+f.Name), data(fmt.Sprintf("%s\nWhy: %s\nCost: %s", text, f.Why, f.Cost)))
	}
	for _, p := range a.Passed {
		fmt.Fprintf(out, "::notice file=%s::%s\n", property(p.File), data("passed over: "+p.Message))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

var annotations = map[string]string{"error": "error", "warning": "warning", "info": "notice"}

// data and property escape as GitHub's runners read it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

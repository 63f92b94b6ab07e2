# Everything that is done to this repository more than once; CI calls the same
# targets. Two of them need nothing but Go, a C compiler and Python:
#
#   make demo    captures examples/train.py on a GPU that is not there
#   make test    builds everything and runs every test

GO     ?= go
PYTHON ?= python3
GPU    ?= h100
LINT    = $(GO) tool -modfile=tools/go.mod golangci-lint

.PHONY: build demo test test-go static race fuzz lint fmt golden rules pictures bench record recordings clean

build:
	$(GO) build -o bin/plimsoll ./cmd/plimsoll

demo: build .venv/.demo
	bin/plimsoll capture --gpu $(GPU) -- .venv/bin/python examples/train.py --batch-size 64 --amp bf16

test: static .venv/.test
	PLIMSOLL_PYTHON=$(CURDIR)/.venv/bin/python PLIMSOLL_EVERY_SCRIPT=1 $(GO) test -timeout 45m ./...

# The tests without those that run PyTorch; they say that they were skipped.
test-go:
	$(GO) test ./...

# The captures once more under another PyTorch: make test-torch-2.6, test-torch-2.0.
test-torch-%: .venv-%/.torch
	PLIMSOLL_PYTHON=$(CURDIR)/.venv-$*/bin/python $(GO) test -count=1 -timeout 30m ./internal/capture/... ./internal/cli/...

# Without cgo everything builds, and runs where there is no C library; only lint,
# whose parser is C, then says that it needs a build with cgo.
static:
	CGO_ENABLED=0 $(GO) build ./...
	$(GO) vet ./...

race:
	$(GO) test -race -short ./...

fuzz:
	sh tools/fuzz.sh 30s

lint:
	$(LINT) run ./...

fmt:
	$(LINT) fmt ./...

# Writes what the golden tests compare with anew; read the diff.
golden:
	PLIMSOLL_UPDATE=1 $(GO) test ./internal/report/... ./internal/cli/... ./internal/diagnose ./internal/idle ./internal/exporter ./internal/tui/...

# Writes the list of lint rules and docs/rules, from the rules.
rules:
	cd internal/lint/rules && $(GO) generate .
	$(GO) run ./internal/lint/rules/docs docs/rules

# Draws the screen of `plimsoll top --demo` for the documentation.
pictures:
	$(GO) run ./bars/top/picture

# Records all tapes of families on the virtual GPU, and goes on where it was
# stopped: make record FAMILY="llama gpt2".
record: .venv/.test
	$(GO) run ./internal/family/record -python .venv/bin/python $(FAMILY)

# Prints what was recorded, as text: make recordings FAMILY=llama.
recordings:
	@$(GO) run ./internal/family/record -text $(foreach f,$(or $(FAMILY),*),internal/family/recordings/torch-*/$(f).sym.zst)

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean:
	rm -rf bin dist .venv .venv-*

# PyTorch's wheel comes without the CUDA libraries that it names (3 GB): the
# virtual GPU takes their place.
.venv/.demo: requirements/demo.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("PyTorch 2.15 needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@echo "making .venv with PyTorch's wheel (several hundred MB, once)"
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --no-deps -r requirements/demo.txt
	touch $@

.venv/.test: .venv/.demo requirements/test.txt
	@echo "adding the frameworks that the tests train with"
	.venv/bin/python -m pip install --no-deps -r requirements/test.txt
	touch $@

.venv-%/.torch: requirements/torch-%.txt
	@echo "making .venv-$* with PyTorch $*"
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --no-deps -r requirements/torch-$*.txt
	touch $@

package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// What is known of Python's machine learning libraries, as tables.

var moduleBases = []string{
	"torch.nn.Module", "lightning.pytorch.LightningModule", "transformers.PreTrainedModel", "torch.nn.Sequential", "torch.nn.ModuleList",
	"diffusers.ModelMixin",
}

var bases = []struct {
	base string
	kind Kind
}{
	{"torch.utils.data.Dataset", DatasetKind}, {"torch.utils.data.IterableDataset", DatasetKind},
	{"torch.utils.data.DataLoader", Loader}, {"torch.optim.Optimizer", Optimizer}, {"transformers.Trainer", Trainer},
	{"torchvision.datasets.ImageFolder", DatasetKind}, {"torchvision.datasets.VisionDataset", DatasetKind},
	{"tensorflow.keras.Model", KerasModel},
}

// hooks are methods that a framework calls: each training step, or without
// gradients. One gives a loss, or is given what the step gave as "outputs".
var hooks = []struct {
	class, method string
	hot, gradOff  bool
	gives         string
}{
	{"lightning.pytorch.LightningModule", "training_step", true, false, "loss"},
	{"lightning.pytorch.LightningModule", "validation_step", false, true, ""},
	{"lightning.pytorch.LightningModule", "test_step", false, true, ""},
	{"lightning.pytorch.LightningModule", "predict_step", false, true, ""},
	{"lightning.pytorch.LightningModule", "on_validation_epoch_end", false, true, ""},
	{"lightning.pytorch.LightningModule", "validation_epoch_end", false, true, ""},
	{"lightning.pytorch.LightningModule", "test_epoch_end", false, true, ""},
	{"lightning.pytorch.LightningModule", "on_train_batch_end", true, false, "outputs"},
	{"lightning.pytorch.LightningModule", "on_train_batch_start", true, false, ""},
	{"lightning.pytorch.LightningModule", "on_after_backward", true, false, ""},
	{"lightning.pytorch.LightningModule", "on_before_zero_grad", true, false, ""},
	{"lightning.pytorch.LightningModule", "optimizer_step", true, false, ""},
	{"lightning.pytorch.Callback", "on_train_batch_end", true, false, "outputs"},
	{"lightning.pytorch.Callback", "on_train_batch_start", true, false, ""},
	{"lightning.pytorch.callbacks.Callback", "on_train_batch_end", true, false, "outputs"},
	{"lightning.pytorch.callbacks.Callback", "on_train_batch_start", true, false, ""},
	{"transformers.TrainerCallback", "on_step_end", true, false, ""},
	{"transformers.TrainerCallback", "on_step_begin", true, false, ""},
	{"transformers.TrainerCallback", "on_substep_end", true, false, ""},
	{"transformers.Trainer", "compute_loss", true, false, "loss"},
	{"transformers.Trainer", "training_step", true, false, "loss"},
	{"transformers.Trainer", "prediction_step", false, true, ""},
	{"transformers.Trainer", "evaluation_loop", false, true, ""},
}

// makers give the values of known classes and of functions that make models.
var makers = map[string]func(*evaluator, callArgs) Value{
	"torch.utils.data.DataLoader":                     constantly(Value{Kind: Loader}),
	"torch_geometric.loader.DataLoader":               constantly(Value{Kind: Loader}),
	"torch.device":                                    deviceMaker,
	"torch.amp.GradScaler":                            constantly(Value{Kind: Scaler}),
	"torch.load":                                      checkpointMaker,
	"torch.nn.parallel.DataParallel":                  wrapper,
	"torch.nn.parallel.DistributedDataParallel":       wrapper,
	"torch.distributed.fsdp.FullyShardedDataParallel": wrapper,
	"torch.compile":                                   wrapper,
	"torch.jit.script":                                wrapper,
	"torch.nn.SyncBatchNorm.convert_sync_batchnorm":   wrapper,
	"copy.deepcopy":                                   wrapper,
	"copy.copy":                                       wrapper,
	"peft.get_peft_model":                             wrapper,
	"accelerate.Accelerator":                          constantly(Value{Kind: Accelerator}),
	"lightning.fabric.Fabric":                         constantly(Value{Kind: Accelerator}),
	"transformers.Trainer":                            constantly(Value{Kind: Trainer}),
	"transformers.Seq2SeqTrainer":                     constantly(Value{Kind: Trainer}),
	"trl.SFTTrainer":                                  constantly(Value{Kind: Trainer}),
	"lightning.pytorch.Trainer":                       constantly(Value{Kind: Trainer}),
	"torch.utils.data.TensorDataset":                  constantly(Value{Kind: DatasetKind}),
	"torch.utils.data.Subset":                         constantly(Value{Kind: DatasetKind}),
	"torch.utils.data.ConcatDataset":                  constantly(Value{Kind: DatasetKind}),
	"torch.utils.data.random_split":                   constantly(Value{Kind: ListKind, Elem: &Value{Kind: DatasetKind}}),
	"datasets.load_dataset":                           constantly(Value{Kind: DatasetKind}),
	"timm.create_model":                               constantly(Value{Kind: Module}),
	"torch.hub.load":                                  constantly(Value{Kind: Module}),
	"tensorflow.keras.Sequential":                     constantly(Value{Kind: KerasModel}),
	"tensorflow.keras.Model":                          constantly(Value{Kind: KerasModel}),
	"tensorflow.keras.models.Sequential":              constantly(Value{Kind: KerasModel}),
	"tensorflow.keras.models.load_model":              constantly(Value{Kind: KerasModel}),
	"tensorflow.keras.saving.load_model":              constantly(Value{Kind: KerasModel}),
	"tensorflow.keras.models.clone_model":             constantly(Value{Kind: KerasModel}),
	"tensorflow.keras.models.Model":                   constantly(Value{Kind: KerasModel}),
	"torch.nn.ParameterList":                          constantly(Value{Kind: ListKind}),
	"torch.nn.Parameter":                              constantly(Value{Kind: Tensor, Grad: Yes}),
	"collections.defaultdict":                         constantly(Value{Kind: ListKind}),
	"collections.deque":                               constantly(Value{Kind: ListKind}),
	"collections.OrderedDict":                         constantly(Value{Kind: ListKind}),
}

func constantly(v Value) func(*evaluator, callArgs) Value {
	return func(*evaluator, callArgs) Value { return v }
}

// wrapper gives what it was given, with a place of its own.
func wrapper(_ *evaluator, a callArgs) Value {
	v := a.at(0)
	if v.Kind == Unknown {
		v.Kind = Unknown
	}
	v.Origin = nil
	return v
}

func deviceMaker(_ *evaluator, a callArgs) Value {
	v := Value{Kind: Device, Place: a.at(0).Place}
	return v
}

func checkpointMaker(_ *evaluator, a callArgs) Value {
	v := Value{Kind: Checkpoint}
	if m, ok := a.named("map_location"); ok {
		v.Place = m.Place
	} else {
		v.Place = a.at(1).Place
	}
	return v
}

// makerPrefixes are the classes of whole packages: the first that fits.
var makerPrefixes = []struct {
	prefix string
	suffix string
	class  bool // the name begins with a capital
	kind   Kind
}{
	{"torch.optim.lr_scheduler.", "", true, Scheduler},
	{"torch.optim.", "", true, Optimizer},
	{"bitsandbytes.optim.", "", true, Optimizer},
	{"apex.optimizers.", "", true, Optimizer},
	{"transformers.get_", "schedule_with_warmup", false, Scheduler},
	{"torch.nn.", "Loss", true, Criterion},
	{"torch.nn.utils.", "", false, Unknown},
	{"torch.nn.init.", "", false, Unknown},
	{"torch.nn.", "", true, Module},
	{"torchvision.models.", "Weights", true, Number},
	{"torchvision.models.", "", false, Module},
	{"torchvision.datasets.", "", true, DatasetKind},
	{"segmentation_models_pytorch.", "", true, Module},
	{"transformers.", ".from_pretrained", false, Module},
	{"transformers.Auto", "", true, ClassKind},
	{"tensorflow.data.", "", false, TFDataset},
	{"tensorflow.keras.applications.", "", true, KerasModel},
}

// constants are names of libraries that are values, not functions.
var constants = map[string]Value{
	"torch.float16": {Kind: Number}, "torch.bfloat16": {Kind: Number}, "torch.float32": {Kind: Number}, "torch.half": {Kind: Number},
	"torch.float": {Kind: Number}, "torch.long": {Kind: Number}, "torch.int64": {Kind: Number}, "torch.uint8": {Kind: Number},
	"torch.bool": {Kind: Number}, "tensorflow.data.AUTOTUNE": {Kind: Number},
}

// functions give the values of known functions.
var functions = map[string]func(*evaluator, callArgs) Value{
	"torch.stack": joined, "torch.cat": joined, "torch.concat": joined, "torch.hstack": joined, "torch.vstack": joined,
	"torch.from_numpy": constantly(Value{Kind: Tensor, Grad: No, Place: CPU}),
	"torch.utils.checkpoint.checkpoint": func(ev *evaluator, _ callArgs) Value {
		return Value{Kind: Tensor, Grad: ev.limit(Yes)}
	},
	"torch.utils.checkpoint.checkpoint_sequential": func(ev *evaluator, _ callArgs) Value {
		return Value{Kind: Tensor, Grad: ev.limit(Yes)}
	},
	"torch.autograd.Variable":        func(_ *evaluator, a callArgs) Value { return a.at(0) },
	"torch.cuda.is_available":        constantly(Value{Kind: Number}),
	"torch.cuda.current_device":      constantly(Value{Kind: Device, Place: GPU}),
	"torch.nn.utils.clip_grad_norm_": constantly(Value{Kind: Tensor, Grad: No}),
	"torch.distributed.get_rank":     constantly(Value{Kind: Number}),
	"itertools.cycle":                func(_ *evaluator, a callArgs) Value { return a.at(0) },
	"itertools.islice":               func(_ *evaluator, a callArgs) Value { return a.at(0) },
	"itertools.chain":                func(_ *evaluator, a callArgs) Value { return a.at(0) },
	"tqdm.tqdm":                      func(_ *evaluator, a callArgs) Value { return a.at(0) },
	"tqdm.trange":                    constantly(Value{Kind: ListKind, Elem: &Value{Kind: Number}}),
	"numpy.array":                    constantly(Value{Kind: Array}),
}

// joined is the tensor of a list of tensors.
func joined(ev *evaluator, a callArgs) Value {
	e := a.at(0).element()
	v := Value{Kind: Tensor, Grad: ev.limit(gradOf(e)), Place: placeJoin(e), Loss: e.Loss}
	return v
}

// contextFor is the context manager that a qualified name makes, or false.
func contextFor(q string, c *pyast.Call, ev *evaluator) (Value, bool) {
	context := func(class string) (Value, bool) {
		v := Value{Kind: Context, Class: class}
		if c != nil {
			v.Origin = c
		}
		return v, true
	}
	switch q {
	case "torch.no_grad", "torch.inference_mode":
		if c != nil && len(c.Args) == 1 {
			if k, ok := c.Args[0].(*pyast.Constant); ok && k.Kind == pyast.False {
				return context("grad")
			} else if !ok {
				return context("maybe_grad")
			}
		}
		if entered(c) {
			ev.mode.grad = No
		}
		return context("no_grad")
	case "torch.enable_grad":
		return context("grad")
	case "torch.set_grad_enabled":
		if c == nil || len(c.Args) == 0 {
			return context("maybe_grad")
		}
		class := "maybe_grad"
		if k, ok := c.Args[0].(*pyast.Constant); ok {
			class = "grad"
			if k.Kind == pyast.False {
				class = "no_grad"
			}
		}
		// As a statement it lasts.
		if _, stmt := c.Parent().(*pyast.ExprStmt); stmt {
			ev.mode.grad = map[string]Tri{"grad": Yes, "no_grad": No, "maybe_grad": Maybe}[class]
		}
		return context(class)
	case "torch.amp.autocast", "torch.cpu.amp.autocast":
		if c != nil {
			if k, ok := c.Keyword("enabled").(*pyast.Constant); ok && k.Kind == pyast.False {
				return context("no_autocast")
			}
		}
		return context("autocast")
	case "contextlib.nullcontext", "contextlib.suppress", "contextlib.ExitStack":
		return context("null")
	}
	return Value{}, false
}

// entered reports whether a context is given to enter_context() of a stack: it
// lasts from there on.
func entered(c *pyast.Call) bool {
	if c == nil {
		return false
	}
	stack, ok := c.Parent().(*pyast.Call)
	if !ok {
		return false
	}
	a, ok := stack.Func.(*pyast.Attribute)
	return ok && a.Attr == "enter_context"
}

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

var (
	// toPython are methods of a tensor that give no tensor.
	toPython = words("item tolist numel nelement size dim ndimension element_size stride is_contiguous get_device data_ptr storage untyped_storage type is_floating_point is_complex")
	// gradless are operations whose result has no graph.
	gradless = words("argmax argmin argsort eq ne gt lt ge le equal long int bool byte short nonzero isnan isinf isfinite sign floor ceil round bincount histc unique one_hot multinomial bernoulli zeros_like ones_like randn_like rand_like empty_like full_like new_zeros new_ones new_tensor new_full searchsorted bucketize isclose allclose any all logical_and logical_or logical_not isin")
	// creators make tensors from nothing.
	creators = words("zeros ones empty full rand randn randint arange linspace logspace eye tensor as_tensor zeros_like ones_like empty_like full_like rand_like randn_like randint_like randperm normal scalar_tensor tril_indices triu_indices Tensor FloatTensor LongTensor")
	// plainAttrs are attributes of a tensor that are no tensors.
	plainAttrs = words("shape device dtype ndim requires_grad is_cuda is_leaf names layout itemsize nbytes grad_fn is_sparse is_quantized")
	// moduleAttrs are attributes of a module that say nothing of what it is.
	moduleAttrs = words("config training device dtype")
	// moduleMethods are methods of a module whose result is not a tensor.
	moduleMethods = words("zero_grad load_state_dict register_forward_hook register_buffer register_parameter add_module gradient_checkpointing_enable gradient_checkpointing_disable save_pretrained push_to_hub compile register_full_backward_hook set_input_embeddings resize_token_embeddings enable_input_require_grads print_trainable_parameters")
)

var hintExact = map[string]Value{
	"device": {Kind: Device, Place: GPU}, "dev": {Kind: Device, Place: GPU}, "local_rank": {Kind: Number, Place: GPU}, "rank": {Kind: Number, Place: GPU},
	"scaler": {Kind: Scaler}, "grad_scaler": {Kind: Scaler}, "loss_scaler": {Kind: Scaler},
	"accelerator": {Kind: Accelerator}, "fabric": {Kind: Accelerator},
	"tokenizer": {Kind: Tokenizer}, "scheduler": {Kind: Scheduler}, "lr_scheduler": {Kind: Scheduler},
	"trainer": {Kind: Trainer},
	"G":       {Kind: Module}, "D": {Kind: Module}, "ddp": {Kind: Module}, "vae": {Kind: Module}, "unet": {Kind: Module}, "gan": {Kind: Module},
	"dl": {Kind: Loader}, "criteria": {Kind: ListKind, Elem: &Value{Kind: Criterion}},
	"dataset": {Kind: DatasetKind}, "train_dataset": {Kind: DatasetKind}, "val_dataset": {Kind: DatasetKind}, "test_dataset": {Kind: DatasetKind},
	"optim": {Kind: Optimizer}, "loss_fn": {Kind: Criterion}, "loss_func": {Kind: Criterion}, "loss_function": {Kind: Criterion}, "lossfn": {Kind: Criterion},
}

// hintWords say by a part of a name what people call so; the last part decides
// before the first. A number behind it does not matter.
var hintWords = map[string]Kind{
	"model": Module, "net": Module, "network": Module, "module": Module, "encoder": Module, "decoder": Module, "generator": Module,
	"discriminator": Module, "netg": Module, "netd": Module, "rnn": Module, "lstm": Module, "gru": Module, "backbone": Module, "head": Module,
	"student": Module, "teacher": Module, "transformer": Module, "critic": Module, "actor": Module, "classifier": Module, "lm": Module,
	"policy": Module, "unet": Module, "resnet": Module, "vit": Module, "cell": Module, "enc": Module, "dec": Module,
	"criterion": Criterion, "crit": Criterion, "optimizer": Optimizer, "loader": Loader, "dataloader": Loader, "dataiter": Loader,
}

// hint is what a name alone says of a value.
func hint(name string) Value {
	if v, ok := hintExact[name]; ok {
		return v
	}
	lower := strings.ToLower(name)
	parts := strings.Split(strings.TrimRight(lower, "0123456789"), "_")
	if strings.HasSuffix(lower, "_loss_fn") || strings.HasSuffix(lower, "_criterion") {
		return Value{Kind: Criterion}
	}
	if strings.HasSuffix(lower, "_device") {
		return Value{Kind: Device, Place: GPU}
	}
	if k, ok := hintWords[parts[len(parts)-1]]; ok {
		return Value{Kind: k}
	}
	switch {
	case strings.HasSuffix(lower, "dataloader"), strings.HasSuffix(lower, "_dl") && len(lower) > 3, strings.HasSuffix(lower, "loader") && !strings.Contains(lower, "config"):
		return Value{Kind: Loader}
	case strings.HasPrefix(lower, "optimizer"):
		return Value{Kind: Optimizer}
	}
	if k, ok := hintWords[parts[0]]; ok && len(parts) == 2 && len(parts[1]) <= 2 {
		return Value{Kind: k} // head_a, model_b, encoder_q
	}
	return Value{}
}

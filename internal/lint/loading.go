package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A loadSite is a loader of a dataset's class.
type loadSite struct {
	class   string
	workers bool
}

// decoders are functions that take a CPU long, by what they do.
var decoders = map[string]string{
	"PIL.Image.open": "reads images", "cv2.imread": "reads images", "cv2.imdecode": "decodes images", "imageio.imread": "reads images",
	"imageio.v2.imread": "reads images", "imageio.v3.imread": "reads images", "skimage.io.imread": "reads images", "matplotlib.pyplot.imread": "reads images",
	"torchvision.io.read_image": "reads images", "torchvision.io.decode_image": "decodes images", "torchvision.io.decode_jpeg": "decodes images",
	"torchvision.io.read_video": "reads videos", "torchvision.datasets.folder.default_loader": "reads images", "torchvision.datasets.folder.pil_loader": "reads images",
	"tifffile.imread": "reads images", "rasterio.open": "reads images", "pydicom.dcmread": "reads images", "SimpleITK.ReadImage": "reads volumes",
	"decord.VideoReader": "reads videos", "cv2.VideoCapture": "reads videos", "av.open": "reads videos",
	"torchaudio.load": "reads audio", "librosa.load": "reads audio", "soundfile.read": "reads audio", "librosa.feature.melspectrogram": "computes spectrograms",
	"scipy.io.wavfile.read": "reads audio", "numpy.load": "reads arrays from files", "numpy.loadtxt": "reads arrays from files", "scipy.io.loadmat": "reads arrays from files",
	"torch.load": "reads tensors from files", "nibabel.load": "reads volumes", "h5py.File": "opens HDF5 files", "pandas.read_csv": "reads tables",
	"pandas.read_parquet": "reads tables", "pickle.load": "reads pickles",
}

// notes takes down what a call of a library tells of its function.
func (ev *evaluator) notes(q string, a callArgs) {
	if what := decoders[q]; what != "" && ev.fn.Decodes == "" {
		ev.fn.Decodes = what
	}
	if q != "torch.utils.data.DataLoader" {
		return
	}
	dataset, ok := a.named("dataset")
	if !ok {
		dataset = a.at(0)
	}
	class := dataset.Class
	if made, ok := dataset.Origin.(*pyast.Call); ok && class == "" {
		class = ev.f.Callee(made) // of a file that is read later
	}
	if class != "" {
		ev.fn.loads = append(ev.fn.loads, loadSite{class, ev.f.Workers(a.node)})
	}
}

// LoadDecodes is what a dataset of the project does for each sample that takes
// a CPU long, in whichever file its class is; "" if nothing is known.
func (f *File) LoadDecodes(class string) string {
	for _, name := range []string{"__getitem__", "__getitems__", "__iter__"} {
		if fn := f.project.funcs[f.project.method(class, name, 0)]; fn != nil && fn.Decodes != "" {
			return fn.Decodes
		}
	}
	return ""
}

// LoadedByWorkers reports whether a loader anywhere in the project loads a class
// in worker processes.
func (f *File) LoadedByWorkers(class *Class) bool {
	if f.project.loaded[class.Qual] {
		return true
	}
	return f.loaderWithWorkers(class) != nil
}

func (f *File) loaderWithWorkers(class *Class) *pyast.Call {
	for _, c := range f.LoadersOf(class) {
		if f.Workers(c) {
			return c
		}
	}
	return nil
}

// tokenizers are functions and classes that give tokenisers.
var tokenizers = []string{
	"tiktoken.get_encoding", "tiktoken.encoding_for_model", "tokenizers.Tokenizer", "tokenizers.Tokenizer.from_file", "tokenizers.Tokenizer.from_pretrained",
	"sentencepiece.SentencePieceProcessor", "torchtext.data.utils.get_tokenizer", "torchtext.data.get_tokenizer",
}

// isTokenizer reports whether a qualified name gives a tokeniser, or what else
// prepares a model's inputs.
func isTokenizer(q string) bool {
	rest, ok := strings.CutPrefix(q, "transformers.")
	if ok && strings.HasSuffix(rest, ".from_pretrained") {
		return strings.Contains(rest, "Tokenizer") || strings.HasSuffix(rest, "Processor.from_pretrained") || strings.HasSuffix(rest, "FeatureExtractor.from_pretrained")
	}
	return within(q, tokenizers)
}

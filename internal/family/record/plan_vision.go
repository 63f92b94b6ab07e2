package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// visionFamily is what the recorder and the file of a model of torchvision are
// called, before the model's name.
const visionFamily = "torchvision-"

// visionRow is the row of one of torchvision's models, which have no file.
func visionRow(model string) *row {
	return &row{
		Family:  "torchvision",
		Library: "torchvision",
		Models:  []string{model},
		raw:     object{"family": json.RawMessage(`"torchvision"`), "library": json.RawMessage(`"torchvision"`), "stacks": json.RawMessage("[]")},
		Symbols: []symbolRow{{"B", "images in a micro-batch"}, {"H", "height of an image"}, {"W", "width of an image"}},
	}
}

// visionWays are the ways to use a model of images.
var visionWays = []struct {
	mode         string
	channelsLast bool
	precisions   string
}{
	{"train", false, "fp32 bf16 amp-bf16 amp-fp16"},
	{"eval", false, "fp32 amp-fp16 bf16"},
	{"train", true, "fp32 amp-fp16 amp-bf16 bf16"},
	{"eval", true, "fp32 amp-fp16 bf16"},
}

var (
	segmenting = []string{"fcn", "deeplab", "lraspp"}
	attentive  = []string{"vit_"}
	ofOneSize  = []string{"vit_", "maxvit", "swin"} // or of those that windows ask for
	// summing are models whose gradients of biases and norms are sums over pixels,
	// or whose convolutions look at an image's width.
	summing = []string{"alexnet", "vgg", "squeezenet", "convnext", "vit", "swin", "maxvit", "efficientnet", "mobilenet", "mnasnet", "shufflenet", "regnet_y", "lraspp", "deeplabv3_mobilenet", "googlenet"}
)

func startsWith(name string, list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(name, s) })
}

// visionVariants are the tapes of one model.
func visionVariants(r *row) []variant {
	model := r.Models[0]
	task := "image-classification"
	if startsWith(model, segmenting) {
		task = "semantic-segmentation"
	}
	var list []variant
	for _, w := range visionWays {
		for p := range strings.FieldsSeq(w.precisions) {
			if task == "semantic-segmentation" && p == "bf16" {
				continue // truth's batch is of float32
			}
			j := solve.Job{Family: r.Family, Model: model, Task: task, Mode: w.mode, Precision: p, Attention: "sdpa", Checkpoint: "none", Structure: model, ChannelsLast: w.channelsLast}
			list = append(list, variant{Job: j, class: 80})
			if startsWith(model, attentive) && p != "fp32" {
				list = append(list, variant{Job: j, class: 90})
				if p == "amp-fp16" {
					list = append(list, variant{Job: j, class: 75})
				}
			}
		}
	}
	return list
}

// A picture is the batch and the image of a recording: so many images, or as
// many as make the largest tensor of the model so large, but at most so many.
type picture struct {
	images, height, width int64
	fill, most            int64
}

const mebi = 1 << 20

// pictures are the recordings of models that sum over pixels, with tensors on
// both sides of 2 GiB; the others need only the first of them.
var (
	pictures = []picture{
		{images: 2, height: 257, width: 293},
		{images: 5, height: 224, width: 320},
		{images: 64, height: 224, width: 192},
		{images: 1, height: 384, width: 416},
		{images: 2, height: 96, width: 80},
		{height: 64, width: 72, fill: 1945 * mebi, most: 4200},
		{height: 160, width: 192, fill: 3174 * mebi},
		{images: 7, height: 310, width: 203},
		{images: 33, height: 176, width: 160},
		{images: 24, height: 512, width: 384},
		{height: 96, width: 224, fill: 2457 * mebi},
		{height: 144, width: 100, fill: 1331 * mebi},
		{height: 320, width: 272, fill: 819 * mebi},
	}
	fewPictures = 8
	// manyPixels are enough that a mean over them, channels last, is shared by blocks:
	// from 1,021 on, which a picture of 512 x 512 has 16 times smaller.
	manyPixels    = picture{images: 2, height: 1088, width: 1152}
	pictureChecks = []picture{{images: 11, height: 272, width: 239}, {height: 224, width: 224, fill: 2300 * mebi}}
)

// pictureJobs are the recordings of a variant of a model of images.
func (v variant) pictureJobs() (list []job, solved int) {
	many := pictures
	if !startsWith(v.Model, summing) && !v.ChannelsLast {
		many = pictures[:fewPictures]
	}
	if v.ChannelsLast && !startsWith(v.Model, ofOneSize) {
		many = append(slices.Clone(many), manyPixels)
	}
	for n, p := range slices.Concat(many, pictureChecks) {
		p, ok := p.of(v.Model, n)
		if !ok {
			continue
		}
		j := job{Job: v.Job, Fill: p.fill, Most: p.most, Dims: symbolic.Dims{"B": p.images, "H": p.height, "W": p.width}}
		card := 0
		if n == len(many)+1 {
			card = 1
		}
		j.Device, j.Extents = cards[v.class][card], n == 0
		list = append(list, j)
		if n < len(many) {
			solved++
		}
	}
	return list, solved
}

// fixedSide is the side of the only images that a model takes.
var fixedSide = map[string]int64{"vit_": 224, "maxvit": 224}

// windowed are the images of models that pad them to whole windows, stage by stage: in
// no stage, in all and in some, with one window and with more; height and width always
// need it alike.
var windowed = map[string][][2]int64{
	"swin_t": windowsOf7, "swin_s": windowsOf7, "swin_b": windowsOf7, "swin_v2": windowsOf8,
}

var (
	windowsOf7 = [][2]int64{
		{224, 224}, {256, 256}, {288, 320}, {448, 448}, {384, 384}, {336, 336}, {448, 224}, {192, 192}, {392, 280}, {308, 364}, {128, 128}, {512, 512}, {400, 400},
		{352, 352}, {256, 384},
	}
	windowsOf8 = [][2]int64{
		{256, 256}, {224, 224}, {288, 224}, {512, 512}, {384, 384}, {320, 320}, {512, 256}, {192, 192}, {300, 364}, {260, 260}, {128, 128}, {448, 448}, {400, 400},
		{352, 352}, {224, 288},
	}
)

// of is the picture as a model takes it; ok is false where it takes none such.
func (p picture) of(model string, n int) (_ picture, ok bool) {
	for name, side := range fixedSide {
		if strings.HasPrefix(model, name) {
			p.height, p.width = side, side
			return p, p.images != 1 // whose tensors are contiguous in more ways
		}
	}
	for name, images := range windowed {
		if strings.HasPrefix(model, name) {
			p.height, p.width = images[n][0], images[n][1]
		}
	}
	if model == "inception_v3" {
		p.height, p.width = p.height+220, p.width+240 // its other head takes none below 299
	}
	return p, true
}

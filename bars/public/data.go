package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Everything made is the same each time.
func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// text makes a file of words in lines, about size bytes long.
func text(size int) func(string) error {
	return func(path string) error {
		return os.WriteFile(path, words(source(), size), 0o644)
	}
}

func words(r *rand.Rand, size int) []byte {
	var b bytes.Buffer
	b.WriteString("O God, O God! ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 .,;:?!'-\n") // what scripts prompt with
	for b.Len() < size {
		for range 4 + r.IntN(12) {
			fmt.Fprintf(&b, "%s ", lexicon[r.IntN(len(lexicon))])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// lexicon is two thousand pronounceable words.
var lexicon = func() []string {
	r, out := source(), make([]string, 2000)
	for i := range out {
		for range 1 + r.IntN(4) {
			out[i] += string("bcdfghklmnprst"[r.IntN(14)]) + string("aeiou"[r.IntN(5)])
		}
	}
	return out
}()

// tokens makes a file of n token numbers of 16 bits.
func tokens(n, vocabulary int) func(string) error {
	return func(path string) error {
		r, b := source(), make([]byte, 2*n)
		for i := range n {
			binary.LittleEndian.PutUint16(b[2*i:], uint16(r.IntN(vocabulary)))
		}
		return os.WriteFile(path, b, 0o644)
	}
}

// zipped makes a compressed file that holds size bytes of text.
func zipped(size int) func(string) error {
	return func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		z := gzip.NewWriter(f)
		page := words(source(), 1<<16)
		for left := size; left > 0; left -= len(page) {
			if _, err := z.Write(page[:min(left, len(page))]); err != nil {
				return err
			}
		}
		if err := z.Close(); err != nil {
			return err
		}
		return f.Close()
	}
}

// picture is width by height of coloured squares.
func picture(r *rand.Rand, width, height int) image.Image {
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := 0; y < height; y += 16 {
		for x := 0; x < width; x += 16 {
			c := color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
			for i := range 16 * 16 {
				p.Set(x+i%16, y+i/16, c)
			}
		}
	}
	return p
}

// images makes a folder of n pictures for each of the classes; without classes
// they lie in the folder itself.
func images(n, width, height int, classes ...string) func(string) error {
	return func(dir string) error {
		r := source()
		if len(classes) == 0 {
			classes = []string{""}
		}
		for _, class := range classes {
			if err := os.MkdirAll(filepath.Join(dir, class), 0o755); err != nil {
				return err
			}
			for i := range n {
				var b bytes.Buffer
				if err := jpeg.Encode(&b, picture(r, width, height), nil); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(dir, class, fmt.Sprintf("%03d.jpg", i)), b.Bytes(), 0o644); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// masks makes a folder of n pictures of one byte a pixel, each 0 or 1.
func masks(n, width, height int) func(string) error {
	return func(dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		r := source()
		for i := range n {
			p := image.NewGray(image.Rect(0, 0, width, height))
			for j := range p.Pix {
				p.Pix[j] = uint8(r.Uint32() & 1)
			}
			var b bytes.Buffer
			if err := png.Encode(&b, p); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.png", i)), b.Bytes(), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

// digits makes MNIST's four files, with fewer digits than MNIST has.
func digits(train, test int) func(string) error {
	return func(dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for name, n := range map[string]int{"train": train, "t10k": test} {
			r := source()
			pixels := binary.BigEndian.AppendUint32(nil, 0x803)
			labels := binary.BigEndian.AppendUint32(nil, 0x801)
			for _, size := range []int{n, 28, 28} {
				pixels = binary.BigEndian.AppendUint32(pixels, uint32(size))
			}
			labels = binary.BigEndian.AppendUint32(labels, uint32(n))
			for range n * 28 * 28 {
				pixels = append(pixels, uint8(r.Uint32()))
			}
			for i := range n {
				labels = append(labels, uint8(i%10))
			}
			if err := os.WriteFile(filepath.Join(dir, name+"-images-idx3-ubyte"), pixels, 0o644); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name+"-labels-idx1-ubyte"), labels, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

// citations makes the two files of a graph of papers, as Cora's.
func citations(papers, features, cites int) func(string) error {
	return func(dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		r := source()
		var content, edges bytes.Buffer
		for i := range papers {
			fmt.Fprintf(&content, "%d", i+1)
			for range features {
				fmt.Fprintf(&content, "\t%d", r.IntN(16)/15)
			}
			fmt.Fprintf(&content, "\ttopic%d\n", i%7)
		}
		for range cites {
			fmt.Fprintf(&edges, "%d\t%d\n", 1+r.IntN(papers), 1+r.IntN(papers))
		}
		if err := os.WriteFile(filepath.Join(dir, "cora.content"), content.Bytes(), 0o644); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "cora.cites"), edges.Bytes(), 0o644)
	}
}

// verbatim makes a file of what is given.
func verbatim(content string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(content), 0o644) }
}

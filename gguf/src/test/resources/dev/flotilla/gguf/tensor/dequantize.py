"""For each TYPE.blocks of the folder $FOLDER writes TYPE.floats: its numbers as gguf has them."""

import os
import pathlib

import gguf
import numpy

for blocks in sorted(pathlib.Path(os.environ["FOLDER"]).glob("*.blocks")):
    quantization = gguf.GGMLQuantizationType[blocks.stem]
    numbers = gguf.dequantize(numpy.fromfile(blocks, numpy.uint8), quantization)
    numbers.astype("<f4").tofile(blocks.with_suffix(".floats"))

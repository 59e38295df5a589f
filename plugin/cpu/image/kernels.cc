// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable NonMaxSuppressionKernels();
KernelTable EncodePngKernels();
KernelTable DecodeImageKernels();  // DecodeJpeg, DecodePng, DecodeImage
KernelTable EncodeJpegKernels();
KernelTable ResizeKernels();  // ResizeBilinear, ResizeNearestNeighbor
KernelTable CombinedNmsKernels();
KernelTable WeightedResizeKernels();  // ResizeArea, gradients of resizes
KernelTable ColorKernels();           // RGBToHSV, AdjustHue, AdjustContrast
KernelTable CropKernels();            // CropAndResize and its gradients
KernelTable DrawBoxesKernels();
KernelTable PatchKernels();  // ExtractImagePatches, ExtractVolumePatches
KernelTable GlimpseKernels();
KernelTable SampleBoxKernels();   // SampleDistortedBoundingBox
KernelTable ProjectionKernels();  // ImageProjectiveTransform

namespace tables {

KernelTables Image() {
  static const KernelTable tables[] = {
      NonMaxSuppressionKernels(), EncodePngKernels(), DecodeImageKernels(),
      EncodeJpegKernels(),        ResizeKernels(),    CombinedNmsKernels(),
      WeightedResizeKernels(),    ColorKernels(),     CropKernels(),
      DrawBoxesKernels(),         PatchKernels(),     GlimpseKernels(),
      SampleBoxKernels(),         ProjectionKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu

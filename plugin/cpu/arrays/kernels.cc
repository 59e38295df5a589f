// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable SliceKernels();   // Slice, StridedSlice, Reverse
KernelTable JoinKernels();    // Concat, Pack, Split, Unpack
KernelTable RepeatKernels();  // Tile, BroadcastTo, Fill
KernelTable TileGradKernels();
KernelTable TransposeKernels();       // Transpose, SpaceToBatch and kin
KernelTable SequenceKernels();        // Range, LinSpace, BroadcastArgs
KernelTable MatrixPartKernels();      // MatrixBandPart, Diag
KernelTable PadKernels();             // Pad, MirrorPad
KernelTable IndexMapKernels();        // UnravelIndex, DataFormatDimMap
KernelTable MatrixDiagonalKernels();  // MatrixDiag, MatrixDiagPart

namespace tables {

KernelTables Arrays() {
  static const KernelTable tables[] = {
      SliceKernels(),     JoinKernels(),          RepeatKernels(),     TileGradKernels(),
      TransposeKernels(), SequenceKernels(),      MatrixPartKernels(), PadKernels(),
      IndexMapKernels(),  MatrixDiagonalKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu

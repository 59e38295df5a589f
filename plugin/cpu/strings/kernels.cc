// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable StringSimpleKernels();  // StringLength, StringLower, the hashes
KernelTable StringJoinKernels();    // StringJoin, ReduceJoin
KernelTable SubstrKernels();
KernelTable StringSplitKernels();
KernelTable RegexKernels();
KernelTable NumberTextKernels();  // StringToNumber, AsString
KernelTable RawBytesKernels();    // DecodeRaw, DecodeBase64
KernelTable UnicodeKernels();     // UnicodeDecode, UnicodeTranscode
KernelTable StringFormatKernels();
KernelTable StringNGramsKernels();
KernelTable EditDistanceKernels();

namespace tables {

KernelTables Strings() {
  static const KernelTable tables[] = {
      StringSimpleKernels(), StringJoinKernels(),   SubstrKernels(),      StringSplitKernels(),
      RegexKernels(),        NumberTextKernels(),   RawBytesKernels(),    UnicodeKernels(),
      StringFormatKernels(), StringNGramsKernels(), EditDistanceKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu

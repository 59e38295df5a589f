// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable RandomKernels();          // RandomUniform, its kin, stateless ones
KernelTable GeneratorSkipKernels();   // RngSkip, RngReadAndSkip
KernelTable UnigramSamplerKernels();  // FixedUnigramCandidateSampler
KernelTable StochasticCastKernels();  // StochasticCastToInt
KernelTable KeyCounterKernels();      // StatelessRandomGetKeyCounter
KernelTable ShuffleKernels();         // RandomShuffle
KernelTable IndexShuffleKernels();    // RandomIndexShuffle
KernelTable MultinomialKernels();
KernelTable GammaPoissonKernels();
KernelTable BinomialKernels();
KernelTable ParameterizedTruncatedNormalKernels();
KernelTable CandidateSamplerKernels();
KernelTable RandomCropKernels();

namespace tables {

KernelTables Random() {
  static const KernelTable tables[] = {RandomKernels(),
                                       GeneratorSkipKernels(),
                                       UnigramSamplerKernels(),
                                       StochasticCastKernels(),
                                       KeyCounterKernels(),
                                       ShuffleKernels(),
                                       IndexShuffleKernels(),
                                       MultinomialKernels(),
                                       GammaPoissonKernels(),
                                       BinomialKernels(),
                                       ParameterizedTruncatedNormalKernels(),
                                       CandidateSamplerKernels(),
                                       RandomCropKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu

// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable QuantizeKernels();  // QuantizeV2, Dequantize
KernelTable QuantizeAndDequantizeKernels();
KernelTable FakeQuantKernels();
KernelTable RequantizeKernels();
KernelTable QuantizedElementKernels();  // QuantizedRelu, QuantizedAdd
KernelTable QuantizedProductKernels();  // QuantizedMatMul, QuantizedConv2D
KernelTable QuantizedPoolKernels();
KernelTable QuantizedResizeKernels();
KernelTable QuantizedTensorKernels();  // QuantizedConcat, batch normalization
KernelTable QuantizedFusedKernels();   // QuantizedConv2DWithBias and kin
KernelTable PerChannelRequantizeKernels();
KernelTable UniformElementKernels();  // UniformQuantize, UniformRequantize
KernelTable UniformAddKernels();
KernelTable UniformDotKernels();
KernelTable UniformConvolutionKernels();

namespace tables {

KernelTables Quantize() {
  static const KernelTable tables[] = {QuantizeKernels(),
                                       QuantizeAndDequantizeKernels(),
                                       FakeQuantKernels(),
                                       RequantizeKernels(),
                                       QuantizedElementKernels(),
                                       QuantizedProductKernels(),
                                       QuantizedPoolKernels(),
                                       QuantizedResizeKernels(),
                                       QuantizedTensorKernels(),
                                       QuantizedFusedKernels(),
                                       PerChannelRequantizeKernels(),
                                       UniformElementKernels(),
                                       UniformAddKernels(),
                                       UniformDotKernels(),
                                       UniformConvolutionKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu

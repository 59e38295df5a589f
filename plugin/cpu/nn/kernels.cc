// The kernels of this folder.
#include "plugin/cpu/base/kernel_tables.h"

namespace tenon::cpu {

KernelTable BiasAddKernels();          // BiasAdd, BiasAddV1
KernelTable BatchNormKernels();        // FusedBatchNorm and its versions
KernelTable ConvKernels();             // Conv2D, Conv3D, Depthwise…, their fused forms
KernelTable QuantizedConvKernels();    // _TenonQuantizedConv2D
KernelTable PoolKernels();             // MaxPool, AvgPool
KernelTable SoftmaxKernels();          // Softmax, LogSoftmax
KernelTable LayerNormKernels();        // _TenonLayerNorm
KernelTable AttentionKernels();        // _TenonAttention
KernelTable ProjectionsKernels();      // _TenonProjections
KernelTable ConvGradKernels();         // Conv2DBackpropInput and kin
KernelTable PoolGradKernels();         // MaxPoolGrad, AvgPoolGrad
KernelTable LossKernels();             // L2Loss, cross entropies, InTopK
KernelTable PaddedConvKernels();       // FusedPadConv2D
KernelTable DilationKernels();         // Dilation2D, its gradients
KernelTable ArgmaxPoolKernels();       // MaxPoolWithArgmax, its gradients
KernelTable FractionalPoolKernels();   // FractionalMaxPool, its gradients
KernelTable BatchNormGradKernels();    // FusedBatchNormGrad and its versions
KernelTable GlobalBatchNormKernels();  // BatchNormWithGlobalNormalization
KernelTable LrnKernels();              // LRN, its gradient
KernelTable LstmKernels();             // LSTMBlockCell, BlockLSTM
KernelTable LstmGradKernels();         // their gradients
KernelTable GruKernels();              // GRUBlockCell, its gradient
KernelTable IsotonicRegressionKernels();
KernelTable CtcLossKernels();
KernelTable CtcDecoderKernels();

namespace tables {

KernelTables Nn() {
  static const KernelTable tables[] = {BiasAddKernels(),
                                       BatchNormKernels(),
                                       ConvKernels(),
                                       QuantizedConvKernels(),
                                       PoolKernels(),
                                       SoftmaxKernels(),
                                       LayerNormKernels(),
                                       AttentionKernels(),
                                       ProjectionsKernels(),
                                       ConvGradKernels(),
                                       PoolGradKernels(),
                                       LossKernels(),
                                       PaddedConvKernels(),
                                       DilationKernels(),
                                       ArgmaxPoolKernels(),
                                       FractionalPoolKernels(),
                                       BatchNormGradKernels(),
                                       GlobalBatchNormKernels(),
                                       LrnKernels(),
                                       LstmKernels(),
                                       LstmGradKernels(),
                                       GruKernels(),
                                       IsotonicRegressionKernels(),
                                       CtcLossKernels(),
                                       CtcDecoderKernels()};
  return tables;
}

}  // namespace tables
}  // namespace tenon::cpu

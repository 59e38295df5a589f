// The tables of ops, one for each family.
#pragma once

#include <vector>

#include "frame.h"

namespace pjref {

const std::vector<OpRow>& UnaryRows();
const std::vector<OpRow>& BinaryRows();
const std::vector<OpRow>& ConversionRows();
const std::vector<OpRow>& SpecialRows();
const std::vector<OpRow>& MovementRows();
const std::vector<OpRow>& DynamicRows();
const std::vector<OpRow>& IndexingRows();
const std::vector<OpRow>& ReductionRows();
const std::vector<OpRow>& WindowRows();
const std::vector<OpRow>& SortRows();
const std::vector<OpRow>& ProductRows();
const std::vector<OpRow>& ConvolutionRows();
const std::vector<OpRow>& NormalizationRows();
const std::vector<OpRow>& LinearAlgebraRows();
const std::vector<OpRow>& FourierRows();
const std::vector<OpRow>& RandomRows();
const std::vector<OpRow>& ControlRows();

}  // namespace pjref

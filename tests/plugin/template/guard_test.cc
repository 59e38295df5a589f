// What callbacks of the plug-ins that others copy do with exceptions.
#include <gtest/gtest.h>

#include <stdexcept>

#include "plugin/apu/apu_status.h"
#include "plugin/template/status.h"

namespace {

TEST(Guard, TurnsEachExceptionIntoAStatus) {
  const sample::StatusPtr status(TF_NewStatus());
  sample::Guard(status.get(), [] {});
  EXPECT_EQ(TF_GetCode(status.get()), TF_OK);
  sample::Guard(status.get(), [] { throw std::runtime_error("why"); });
  EXPECT_EQ(TF_GetCode(status.get()), TF_INTERNAL);
  EXPECT_STREQ(TF_Message(status.get()), "why");
  TF_SetStatus(status.get(), TF_OK, "");
  EXPECT_NO_THROW(sample::Guard(status.get(), [] { throw 7; }));
  EXPECT_EQ(TF_GetCode(status.get()), TF_INTERNAL);
  const apu::StatusPtr other(TF_NewStatus());
  EXPECT_NO_THROW(apu::Guard(other.get(), [] { throw 7; }));
  EXPECT_EQ(TF_GetCode(other.get()), TF_INTERNAL);
}

}  // namespace

// The host's clock, in microseconds, and the median.

#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

static double now() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

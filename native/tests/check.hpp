// The whole test framework: a failed check says where, and ends the program with 1.
#pragma once

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      std::cerr << __FILE__ << ':' << __LINE__ << ": not true: " << #condition << '\n'; \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (false)

#define CHECK_EQ(left, right)                                                                     \
  do {                                                                                            \
    const auto& left_value = (left);                                                              \
    const auto& right_value = (right);                                                            \
    if (!(left_value == right_value)) {                                                           \
      std::cerr << __FILE__ << ':' << __LINE__ << ": " << #left << " is " << left_value           \
                << ", expected " << #right << " = " << right_value << '\n';                       \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (false)

// Tells whether a call is refused as wrong use.
template <typename Action>
bool refuses(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

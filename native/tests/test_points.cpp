// The loops over points, with whole numbers instead of a curve: a point is a number, 0 the neutral element, and odd
// first bytes are refused.
#include "points.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint64_t number(const unsigned char* point) {
  std::uint64_t value = 0;
  std::memcpy(&value, point, sizeof value);
  return value;
}

void put(unsigned char* point, std::uint64_t value) {
  std::memset(point, 0, kohorte::kPointBytes);
  std::memcpy(point, &value, sizeof value);
}

bool odd(const unsigned char* point) { return number(point) % 2 != 0; }

int multiply(unsigned char* product, const unsigned char* scalar, const unsigned char* point) {
  std::memset(product, 7, kohorte::kPointBytes);
  if (odd(point)) return -1;
  put(product, number(scalar) * number(point));
  return 0;
}

int multiply_base(unsigned char* product, const unsigned char* scalar) {
  put(product, 2 * number(scalar));
  return 0;
}

int add(unsigned char* sum, const unsigned char* one, const unsigned char* other) {
  if (odd(one) || odd(other)) return -1;
  put(sum, number(one) + number(other));
  return 0;
}

int subtract(unsigned char* difference, const unsigned char* one, const unsigned char* other) {
  if (odd(one) || odd(other)) return -1;
  put(difference, number(one) - number(other));
  return 0;
}

int from_hash(unsigned char* point, const unsigned char* hash) {
  put(point, number(hash) * 2);
  return 0;
}

int is_valid(const unsigned char* point) { return odd(point) ? 0 : 1; }

kohorte::Ristretto loops(std::size_t threads) {
  return kohorte::Ristretto({multiply, multiply_base, add, subtract, from_hash, is_valid}, threads);
}

Bytes rows_of(const std::vector<std::uint64_t>& values, std::size_t bytes = kohorte::kPointBytes) {
  Bytes rows(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&rows[i * bytes], &values[i], sizeof values[i]);
  return rows;
}

kohorte::PointRows view(const Bytes& rows, std::size_t bytes = kohorte::kPointBytes) {
  return {rows.data(), rows.size() / bytes, bytes};
}

void each_row_is_computed_by_itself(std::size_t threads) {
  const auto all = loops(threads);
  const auto points = rows_of({2, 4, 6});
  const auto scalars = rows_of({5, 6, 7});
  CHECK(all.multiply(view(scalars), view(points)).points == rows_of({10, 24, 42}));
  CHECK(all.multiply(view(rows_of({3})), view(points)).points == rows_of({6, 12, 18}));
  CHECK(all.multiply(view(scalars), view(rows_of({2}))).points == rows_of({10, 12, 14}));
  CHECK(all.multiply_base(view(scalars)).points == rows_of({10, 12, 14}));
  CHECK(all.add(view(points), view(points)).points == rows_of({4, 8, 12}));
  CHECK(all.subtract(view(points), view(rows_of({2}))).points == rows_of({0, 2, 4}));
  CHECK(all.from_hash(view(rows_of({1, 2}, 64), 64)).points == rows_of({2, 4}));
  CHECK_EQ(all.add(view({}), view({})).points.size(), 0U);
  CHECK_EQ(all.add(view(points), view(points)).first_refused, kohorte::kNone);
}

void the_first_refused_row_is_named_and_zero(std::size_t threads) {
  std::vector<std::uint64_t> values(1000, 2);
  values[700] = values[300] = values[999] = 3;
  const auto found = loops(threads).multiply(view(rows_of({1})), view(rows_of(values)));
  values[700] = values[300] = values[999] = 0;
  CHECK_EQ(found.first_refused, 300);
  CHECK(found.points == rows_of(values));
  CHECK_EQ(loops(threads).first_invalid(view(rows_of({2, 4, 5, 7}))), 2);
}

void sums_are_those_of_a_plain_loop(std::size_t threads) {
  std::mt19937 random(5);
  for (const std::size_t rows : {0U, 1U, 63U, 64U, 65U, 500U, 2000U}) {
    for (const std::size_t groups : {1U, 3U, 70U, 3000U}) {
      std::vector<std::uint64_t> values(rows);
      std::vector<std::uint32_t> group_of(rows);
      std::vector<std::uint64_t> sums(groups);
      std::int64_t first = kohorte::kNone;
      for (std::size_t row = 0; row < rows; ++row) {
        values[row] = random() % 1000;
        if (values[row] % 2 != 0 && random() % 10 != 0) ++values[row];
        group_of[row] = static_cast<std::uint32_t>(random() % groups);
        if (values[row] % 2 == 0) sums[group_of[row]] += values[row];
        if (values[row] % 2 != 0 && first == kohorte::kNone) first = static_cast<std::int64_t>(row);
      }
      const auto found = loops(threads).sum_groups(view(rows_of(values)), group_of, groups);
      CHECK(found.points == rows_of(sums));
      CHECK_EQ(found.first_refused, first);
    }
  }
}

void wrong_use_is_refused() {
  const auto all = loops(2);
  const auto points = rows_of({2, 4, 6});
  const std::vector<std::uint32_t> beyond = {0, 1, 2};
  CHECK(refuses([&] { all.add(view(points, 16), view(points, 16)); }));
  CHECK(refuses([&] { all.from_hash(view(points)); }));
  CHECK(refuses([&] { all.add(view(points), view(rows_of({2, 4}))); }));
  CHECK(refuses([&] { all.sum_groups(view(points), beyond, 2); }));
  CHECK(refuses([&] { all.sum_groups(view(rows_of({2})), beyond, 3); }));
}

}  // namespace

int main() {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    each_row_is_computed_by_itself(threads);
    the_first_refused_row_is_named_and_zero(threads);
    sums_are_those_of_a_plain_loop(threads);
  }
  wrong_use_is_refused();
  return 0;
}

#include "cover.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"

namespace {

// The first of the best covers; none has index -1.
template <typename... Arguments>
kohorte::Cover best_cover(const Arguments&... arguments) {
  const auto found = kohorte::best_covers(arguments..., 1);
  return found.empty() ? kohorte::Cover{} : found.front();
}


using Shape = std::vector<std::size_t>;
using Bytes = std::vector<std::uint8_t>;
using Doubles = std::vector<double>;

std::size_t size_of(const Shape& shape) {
  std::size_t size = 1;
  for (std::size_t length : shape) size *= length;
  return size;
}

Shape node_at(const Shape& shape, std::size_t index) {
  Shape node(shape.size());
  for (std::size_t a = shape.size(); a-- > 0;) {
    node[a] = index % shape[a];
    index /= shape[a];
  }
  return node;
}

bool at_most(const Shape& one, const Shape& other) {
  for (std::size_t a = 0; a < one.size(); ++a) {
    if (one[a] > other[a]) return false;
  }
  return true;
}

std::size_t distance(const Shape& one, const Shape& other) {
  std::size_t sum = 0;
  for (std::size_t a = 0; a < one.size(); ++a) sum += one[a] > other[a] ? one[a] - other[a] : other[a] - one[a];
  return sum;
}

double score(const Doubles& left, const Doubles& right, std::size_t index) {
  return left[index / right.size()] + right[index % right.size()];
}

// All pairs of nodes, by the definition.
kohorte::Cover obvious_cover(const Shape& shape, const Bytes& open, const Bytes& barred, const Doubles& left,
                             const Doubles& right, bool upward) {
  const std::size_t size = size_of(shape);
  std::vector<Shape> nodes;
  for (std::size_t i = 0; i < size; ++i) nodes.push_back(node_at(shape, i));
  const auto beyond = [&](std::size_t one, std::size_t other) {  // `one` lies at or beyond `other`
    return upward ? at_most(nodes[one], nodes[other]) : at_most(nodes[other], nodes[one]);
  };
  std::vector<std::size_t> extreme;
  for (std::size_t i = 0; i < size; ++i) {
    bool is_extreme = open[i] != 0;
    for (std::size_t j = 0; j < size; ++j) {
      if (open[j] != 0 && distance(nodes[i], nodes[j]) == 1 && beyond(j, i)) is_extreme = false;
    }
    if (is_extreme) extreme.push_back(i);
  }
  kohorte::Cover best;
  for (std::size_t i = 0; i < size; ++i) {
    if (barred[i] != 0) continue;
    double covered = 0;
    for (std::size_t e : extreme) covered += beyond(i, e) ? 1 : 0;
    const double s = score(left, right, i);
    const double gain = covered * (0.5 * (1.0 + s / std::sqrt(1.0 + s * s)));
    if (gain > best.gain) best = {static_cast<std::int64_t>(i), gain};
  }
  return best;
}

std::int64_t obvious_least(const Doubles& values, const Bytes& open, const Bytes& sure, const Doubles& left,
                           const Doubles& right) {
  std::int64_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool likely = sure[i] != 0 || score(left, right, i) < 0.0;
    if (open[i] == 0 || !likely || !(values[i] < least)) continue;
    least = values[i];
    best = static_cast<std::int64_t>(i);
  }
  return best;
}

struct Task {
  Shape shape;
  Bytes open, flags;
  Doubles left, right;
};

Task random_task(std::mt19937& random) {
  Task task;
  const std::size_t attributes = 1 + random() % 5;
  for (std::size_t a = 0; a < attributes; ++a) {
    task.shape.push_back(1 + random() % 4);
    if (size_of(task.shape) > 150) task.shape.back() = 1;  // the obvious way looks at all pairs of nodes
  }
  if (random() % 8 == 0) task.shape = {1 + random() % 40, 1 + random() % 3};  // long strides, short strides
  const std::size_t size = size_of(task.shape);
  const std::size_t share = random() % 5;
  for (std::size_t i = 0; i < size; ++i) {
    task.open.push_back(random() % 4 < share ? 1 : 0);
    task.flags.push_back(random() % 3 == 0 ? 1 : 0);
  }
  std::size_t lefts = 1;
  for (std::size_t a = 0; a < task.shape.size() / 2; ++a) lefts *= task.shape[a];
  const bool ties = random() % 2 == 0;
  const auto number = [&] {
    return ties ? static_cast<double>(random() % 3) - 1.0 : std::normal_distribution<double>(0.0, 2.0)(random);
  };
  for (std::size_t i = 0; i < lefts; ++i) task.left.push_back(number());
  for (std::size_t i = 0; i < size / lefts; ++i) task.right.push_back(number());
  return task;
}

void random_covers() {
  std::mt19937 random(4711);
  for (int round = 0; round < 1000; ++round) {
    const Task task = random_task(random);
    for (bool upward : {false, true}) {
      const auto got = best_cover(task.shape, task.open, task.flags, task.left, task.right, upward);
      const auto wanted = obvious_cover(task.shape, task.open, task.flags, task.left, task.right, upward);
      CHECK_EQ(got.index, wanted.index);
      CHECK(std::abs(got.gain - wanted.gain) <= 1e-12 * wanted.gain);
    }
  }
}

void random_least_likely() {
  std::mt19937 random(815);
  for (int round = 0; round < 3000; ++round) {
    const Task task = random_task(random);
    Doubles values;
    for (std::size_t i = 0; i < task.open.size(); ++i) values.push_back(static_cast<double>(random() % 5));
    CHECK_EQ(kohorte::least_likely(values, task.open, task.flags, task.left, task.right),
             obvious_least(values, task.open, task.flags, task.left, task.right));
  }
}

// More extreme nodes than 16 bits can count: every second node of a lattice is open, so that none has an open neighbour.
void large_lattices() {
  const Shape shape{2, 300, 300};
  const std::size_t size = size_of(shape);
  Bytes open;
  for (std::size_t i = 0; i < size; ++i) {
    const Shape node = node_at(shape, i);
    open.push_back((node[0] + node[1] + node[2]) % 2 == 0 ? 1 : 0);
  }
  const Bytes barred(size, 0);
  const Doubles left(2, 0.0), right(size / 2, 0.0);
  for (bool upward : {false, true}) {
    const auto got = best_cover(shape, open, barred, left, right, upward);
    CHECK_EQ(got.gain, 45000.0);  // half of 90,000
    CHECK_EQ(got.index, upward ? 0 : static_cast<std::int64_t>(size) - 1);
  }
}

void bad_input() {
  const Shape shape{2, 3};
  const Bytes six(6, 1), five(5, 1);
  const Doubles two(2, 0.0), three(3, 0.0);
  CHECK(!refuses([&] { best_cover(shape, six, six, two, three, false); }));
  CHECK(refuses([&] { best_cover(shape, five, six, two, three, false); }));
  CHECK(refuses([&] { best_cover(shape, six, five, two, three, false); }));
  CHECK(refuses([&] { best_cover(shape, six, six, three, three, false); }));
  CHECK(refuses([&] { best_cover(shape, six, six, two, two, false); }));
  CHECK(!refuses([&] { kohorte::least_likely(Doubles(6, 0.0), six, six, two, three); }));
  CHECK(refuses([&] { kohorte::least_likely(Doubles(5, 0.0), six, six, two, three); }));
  CHECK(refuses([&] { kohorte::least_likely(Doubles(6, 0.0), five, six, two, three); }));
  CHECK(refuses([&] { kohorte::least_likely(Doubles(6, 0.0), six, five, two, three); }));
}

}  // namespace

int main() {
  random_covers();
  random_least_likely();
  large_lattices();
  bad_input();
  return 0;
}

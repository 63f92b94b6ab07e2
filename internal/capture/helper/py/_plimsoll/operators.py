"""What PyTorch's functions are to the mirror of small values, by name.

Names are those of torch.Tensor's methods, of torch's functions and of operator
overload packets. A name without an entry is computed. Source: torch.overrides.
get_testing_overrides() of PyTorch 2.0 to 2.15, read once by hand.
"""
from __future__ import annotations

# Nothing to compute: questions about a tensor, views of it, memory without contents.
PASSED = frozenset(
    """
__get__ __set__ __delete__ __len__ __hash__ __repr__ __str__ __dir__ __reduce_ex__ __reduce__ __setstate__ __array__ __format__
__deepcopy__ __cuda_array_interface__ __dlpack__ __dlpack_device__ size dim ndimension numel nelement stride storage_offset
data_ptr is_contiguous untyped_storage storage _typed_storage storage_type register_hook register_post_accumulate_grad_hook
requires_grad_ retain_grad detach detach_ alias view view_as expand expand_as broadcast_to broadcast_tensors transpose transpose_
t t_ adjoint permute movedim moveaxis swapaxes swapdims unsqueeze unsqueeze_ squeeze squeeze_ narrow select split
split_with_sizes chunk unbind tensor_split hsplit vsplit dsplit unfold diagonal as_strided as_strided_ view_as_real
view_as_complex real imag conj resolve_conj resolve_neg _conj _neg_view unsafe_split unsafe_chunk atleast_1d atleast_2d atleast_3d
backward is_floating_point is_complex is_tensor is_signed is_same_size is_inference is_conj is_neg is_pinned is_shared
is_storage is_set_to is_coalesced is_distributed element_size get_device pin_memory record_stream share_memory_ set_ resize_
resize_as_ rename rename_ refine_names align_to names type_as_none result_type promote_types can_cast broadcast_shapes
_version empty empty_like empty_strided empty_permuted new_empty new_empty_strided empty_quantized _is_view
_has_compatible_shallow_copy_type module_load swap_tensors has_names to_dense _nested_tensor_from_tensor_list
_register_functions_hook dense_dim sparse_dim _indices _values indices values crow_indices col_indices
set_default_tensor_type get_default_dtype symint __contains_none__ apply_ map_ map2_ unflatten
""".split()
)

# Copies of the first argument to another place or type.
COPIES = frozenset(
    "to cuda cpu type type_as float half bfloat16 double int long short char byte bool cfloat cdouble clone contiguous xpu ipu hpu mtia".split()
)

# Tensors out of no tensor, or out of a tensor's shape alone.
FACTORIES = frozenset(
    """
zeros ones full arange range linspace logspace eye tensor as_tensor asarray scalar_tensor from_numpy frombuffer rand randn randint
randperm normal zeros_like ones_like full_like rand_like randn_like randint_like new_zeros new_ones new_full new_tensor tril_indices
triu_indices complex polar hann_window hamming_window blackman_window bartlett_window kaiser_window sparse_coo_tensor
""".split()
)

# Factories whose large results hold one value: the index of that argument and its name, or the value.
UNIFORM = {"ones": 1, "ones_like": 1, "new_ones": 1, "full": (1, "fill_value"), "full_like": (1, "fill_value"), "new_full": (2, "fill_value"), "fill_": (1, "value")}

# Functions that give a value to each element, alike for all where the input is alike for all.
PREDICATES = frozenset(
    """
isfinite isnan isinf isposinf isneginf eq ne lt le gt ge __eq__ __ne__ __lt__ __le__ __gt__ __ge__ greater greater_equal less
less_equal not_equal logical_not logical_and logical_or logical_xor bitwise_not bitwise_and bitwise_or bitwise_xor __and__ __or__
__xor__ __invert__ __rand__ __ror__ isclose
""".split()
)

# Functions that sum an input up; of a large input with one value the result is known.
REDUCTIONS = frozenset("all any sum mean max min amax amin count_nonzero nansum nanmean median prod".split())

# The host waits for a value.
SYNCS = frozenset("item tolist numpy __bool__ __int__ __float__ __index__ __complex__ is_nonzero __contains__".split())

# Sizes of the result depend on values of the input.
SIZED = frozenset(
    """
nonzero argwhere masked_select unique unique_consecutive _unique2 unique_dim _unique _VF_unique bincount repeat_interleave where
__getitem__ nms roi_nms
""".split()
)

# Sparse tensors with as many elements as the input has that are not zero.
SPARSE = frozenset("to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc coalesce".split())

# Answers about two large tensors that hold for zeros.
SAME_WHEN_ZERO = {"equal": True, "allclose": True}

# Random functions that take a generator.
SEEDED = frozenset(
    "rand randn randint randperm normal bernoulli multinomial normal_ uniform_ random_ exponential_ bernoulli_ geometric_ cauchy_ log_normal_ poisson".split()
)

# Random functions that take none.
UNSEEDED = frozenset(
    """
dropout dropout_ alpha_dropout alpha_dropout_ feature_dropout feature_dropout_ feature_alpha_dropout feature_alpha_dropout_
native_dropout rrelu rrelu_ rand_like randn_like randint_like
""".split()
)

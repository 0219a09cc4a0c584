# The Mathieu group M12, of 95,040 elements: I. Kriz and P. Siegel, Rubik's cube inspired puzzles demonstrate
# math's simple groups (2008).
M_A:=(1,2,3,4,5,6,7,8,9,10,11);
M_B:=(3,7,11,8)(4,10,5,6);
M_C:=(1,12)(2,11)(3,6)(4,8)(5,9)(7,10);
Gen:=[M_A,M_B,M_C];

# Three rings of four pieces; neighbours share one.
A:=(1,2,3,4);
B:=(3,5,6,7);
C:=(6,8,9,1);
Gen:=[A,B,C];
